import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import {
  decodeCursor,
  defaultLimit,
  encodeCursor,
  idAfter,
  pageOf,
  pageQuery,
  timeOf
} from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { identity, type Users } from '../users/users.ts'
import { managedEvent } from './history.ts'
import { ManagedEvent } from './schemas.ts'
import { listEvents } from './store.ts'

/** The events that one filtered page examines: a fixed number, whatever the size of the project. */
const filteredWindow = 2_000

/** Routes by which the console and the CLI read events. */
export function eventManagementRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { users, pool }: { users: Users; pool: Pool }
): void {
  manage.get(
    '/projects/:project_id/events',
    {
      summary: 'List events, of all users or of one',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        project_user_id: Type.Optional(Type.String({ maxLength: 512 })),
        device_id: Type.Optional(Type.String({ maxLength: 255 })),
        name: Type.Optional(
          Type.String({
            maxLength: 256,
            description:
              'The name, exactly. A filtered page may hold fewer entries than its limit; go on while next_cursor is set.'
          })
        )
      }),
      answer: pageOf(ManagedEvent)
    },
    async ({ caller, query: { limit = defaultLimit, cursor, project_user_id, device_id, name } }) => {
      const projectId = caller.project!.id
      const userId = project_user_id === undefined ? undefined : (await users.get(projectId, project_user_id)).id
      const filtered = device_id !== undefined || name !== undefined
      const window = filtered ? filteredWindow : limit + 1
      const after = cursor === undefined ? undefined : cursorParts(cursor)
      return pool.reading(async (db) => {
        const rows = await listEvents(db, projectId, { userId, deviceId: device_id, name, after, window })
        const hits = rows.filter(({ hit }) => hit)
        const shown = hits.slice(0, limit)
        // If there are more hits than the page shows, the next page starts after the last one shown; otherwise after the
        // window, if the window was full.
        const last = hits.length > limit ? shown.at(-1) : rows.at(-1)?.seen === window ? rows.at(-1) : undefined
        const names = await identity.namesOf(db, projectId, [...new Set(shown.map(({ user_id }) => user_id))])
        return {
          items: shown.map((row) => managedEvent(row, names.get(row.user_id) ?? null)),
          next_cursor: last ? encodeCursor(last.at.toISOString(), last.id) : null
        }
      })
    }
  )
}

function cursorParts(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), idAfter(encodeCursor(id!))!]
}

import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery, timeOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { identity, type Users } from '../users/users.ts'
import { checkDeviceId, type Devices } from './devices.ts'
import { managedDevice } from './responses.ts'
import { ManagedDevice } from './schemas.ts'
import { listDevices } from './store.ts'

/** Routes by which the console and the CLI manage devices. */
export function deviceManagementRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { devices, users, pool }: { devices: Devices; users: Users; pool: Pool }
): void {
  const path = '/projects/:project_id/devices'

  manage.get(
    path,
    {
      summary: 'List devices, of all users or of one',
      access: 'viewer',
      query: Type.Object({ ...pageQuery, project_user_id: Type.Optional(Type.String({ maxLength: 512 })) }),
      answer: pageOf(ManagedDevice)
    },
    async ({ caller, query: { limit = defaultLimit, cursor, project_user_id } }) => {
      const projectId = caller.project!.id
      const userId = project_user_id === undefined ? undefined : (await users.get(projectId, project_user_id)).id
      const after = cursor === undefined ? undefined : cursorParts(cursor)
      const { rows, names } = await pool.reading(async (db) => {
        const found = await listDevices(db, projectId, { userId, after, limit: limit + 1 })
        const userIds = [...new Set(found.map(({ user_id }) => user_id))]
        return { rows: found, names: await identity.namesOf(db, projectId, userIds) }
      })
      return page(
        rows,
        limit,
        (row) => encodeCursor(row.created_at.toISOString(), row.id),
        (row) => managedDevice(row, names.get(row.user_id) ?? null)
      )
    }
  )

  manage.get(
    `${path}/:device_id`,
    { summary: 'Read a device', access: 'viewer', answer: ManagedDevice, refusals: ['device_not_found'] },
    async ({ caller, params }) => {
      const projectId = caller.project!.id
      const device = await devices.get(projectId, params.device_id)
      const names = await identity.namesOf(pool, projectId, [device.user_id])
      return managedDevice(device, names.get(device.user_id) ?? null)
    }
  )
}

function cursorParts(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), checkDeviceId(id)]
}

import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { refusing } from '../platform/fields.ts'
import { defaultLimit, idAfter, page, pageOf, pageQuery, periodQuery, readPeriod } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isStorable } from '../platform/json.ts'
import {
  type AuditRow,
  listActors,
  listAudit,
  type ManageAccess,
  type ManageCaller,
  type NamesOf
} from '../projects/projects.ts'
import { phraseOf, targetNameOf } from './audit-words.ts'
import { cursorOfId } from './responses.ts'
import { ActorAnswer, AuditAnswer } from './schemas.ts'

/** The changes in a project, in names and words. */
export function auditRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool, namesOf: NamesOf): void {
  manage.get(
    '/projects/:project_id/audit',
    {
      summary: 'List the changes in a project, with who made them',
      access: 'admin',
      query: Type.Object({
        ...pageQuery,
        ...periodQuery,
        actor: Type.Optional(Type.String({ description: 'Only changes of this author, as `actor` names it.' })),
        action: Type.Optional(
          Type.String({ maxLength: 100, description: 'Only actions that begin with this, such as `campaign`.' })
        )
      }),
      answer: pageOf(AuditAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, actor, action, ...times } }) => {
      const projectId = caller.project!.id
      const filter = { ...readPeriod(times), actor: stored('actor', actor), action: stored('action', action) }
      const after = idAfter(cursor)
      const rows = await pool.reading((db) => listAudit(db, projectId, filter, after, limit + 1))
      const { nameOf, roleOf } = await namesOf(
        projectId,
        rows.map((row) => row.actor)
      )
      return page(rows, limit, cursorOfId, (row: AuditRow) => ({
        ...row,
        actor_name: nameOf(row.actor),
        actor_role: roleOf(row.actor),
        phrase: phraseOf(row),
        target_name: targetNameOf(row)
      }))
    }
  )

  manage.get(
    '/projects/:project_id/actors',
    {
      summary: 'List who has changed something in a project, by name; at most 200',
      access: 'admin',
      answer: Type.Object({ items: Type.Array(ActorAnswer) })
    },
    async ({ caller }) => {
      const actors = await pool.reading((db) => listActors(db, caller.project!.id))
      const { nameOf, roleOf } = await namesOf(caller.project!.id, actors)
      return { items: actors.map((actor) => ({ actor, name: nameOf(actor), role: roleOf(actor) })) }
    }
  )
}

/** The database refuses a NUL, and no entry has one. */
function stored(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isStorable(text)) throw refusing('invalid_parameter')(name, 'must not hold a NUL')
  return text
}

import { type Static, Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { refusing } from '../platform/fields.ts'
import { defaultLimit, idAfter, page, pageOf, pageQuery, periodQuery, readPeriod } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ProjectId } from '../platform/ids.ts'
import { isStorable } from '../platform/json/storable.ts'
import {
  type AuditFilter,
  type AuditRow,
  listActors,
  listAudit,
  listInstallationActors,
  listInstallationAudit,
  type ManageAccess,
  type ManageCaller,
  type NamesOf
} from '../projects/projects.ts'
import { phraseOf, targetNameOf } from './audit-words.ts'
import { cursorOfId } from './responses.ts'
import { ActorAnswer, AuditAnswer } from './schemas.ts'

const auditQuery = Type.Object({
  ...pageQuery,
  ...periodQuery,
  actor: Type.Optional(Type.String({ description: 'Only changes of this author, as `actor` names it.' })),
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only actions that begin with this, such as `campaign`.' })
  )
})

/** The changes in a project, and those of the whole installation, in names and words. */
export function auditRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool, namesOf: NamesOf): void {
  manage.get(
    '/projects/:project_id/audit',
    {
      summary: 'List the changes in a project, with who made them',
      access: 'admin',
      query: auditQuery,
      answer: pageOf(AuditAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query }) => {
      const { id } = caller.project!
      return shownPage(id, query, (...given) => pool.reading((db) => listAudit(db, id, ...given)))
    }
  )

  manage.get(
    '/audit',
    {
      operationId: 'listInstallationAudit',
      summary: 'List sign-ins and changes of the whole installation: members, tokens and projects, with who made them',
      access: 'installation',
      query: auditQuery,
      answer: pageOf(AuditAnswer),
      refusals: ['invalid_parameter']
    },
    ({ query }) => shownPage(null, query, (...given) => pool.reading((db) => listInstallationAudit(db, ...given)))
  )

  /** A page of the log of a project, or with null of the installation. */
  async function shownPage(
    projectId: ProjectId | null,
    { cursor, limit = defaultLimit, actor, action, ...times }: Static<typeof auditQuery>,
    read: (filter: AuditFilter, before: string | null, limit: number) => Promise<AuditRow[]>
  ) {
    const filter = { ...readPeriod(times), actor: stored('actor', actor), action: stored('action', action) }
    const rows = await read(filter, idAfter(cursor), limit + 1)
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

  manage.get(
    '/projects/:project_id/actors',
    {
      summary: 'List who has changed something in a project, by name; at most 200',
      access: 'admin',
      answer: Type.Object({ items: Type.Array(ActorAnswer) })
    },
    async ({ caller }) => {
      const { id } = caller.project!
      return named(id, await pool.reading((db) => listActors(db, id)))
    }
  )

  manage.get(
    '/actors',
    {
      operationId: 'listInstallationActors',
      summary: 'List who is in the audit log of the installation, by name; at most 200',
      access: 'installation',
      answer: Type.Object({ items: Type.Array(ActorAnswer) })
    },
    async () => named(null, await pool.reading(listInstallationActors))
  )

  /** Authors with their names in a project, or with null in the installation. */
  async function named(projectId: ProjectId | null, actors: string[]) {
    const { nameOf, roleOf } = await namesOf(projectId, actors)
    return { items: actors.map((actor) => ({ actor, name: nameOf(actor), role: roleOf(actor) })) }
  }
}

/** The database refuses a NUL, and no entry has one. */
function stored(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isStorable(text)) throw refusing('invalid_parameter')(name, 'must not hold a NUL')
  return text
}

import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { defaultLimit, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import { type DeadJob, dead, revive } from '../platform/jobs/jobs.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { cursorOfId } from './responses.ts'
import { DeadJobAnswer } from './schemas.ts'

/** A dead job without its payload, which may contain data of users. */
const wireDeadJob = ({ id, name, projectId, attempts, error, createdAt, diedAt }: DeadJob) => ({
  id,
  name,
  project_id: projectId,
  attempts,
  error,
  created_at: createdAt.toISOString(),
  died_at: diedAt.toISOString()
})

/** Dead jobs: those that failed too often. For administrators of the installation. */
export function jobRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool): void {
  manage.get(
    '/dead-jobs',
    {
      summary: 'List dead jobs: those that failed too often',
      access: 'installation',
      query: PageQuery,
      answer: pageOf(DeadJobAnswer)
    },
    async ({ query: { cursor, limit = defaultLimit } }) =>
      page(await dead(pool, limit + 1, idAfter(cursor)), limit, cursorOfId, wireDeadJob)
  )

  manage.post(
    '/dead-jobs/:job_id([^:]+)::revive',
    { summary: 'Run a dead job again', access: 'installation', answer: Type.Object({}) },
    async ({ params: { job_id: id = '' } }) => {
      if (!isUuid(id) || !(await revive(pool, id))) throw new Refusal('not_found', 'There is no such job.')
      return {}
    }
  )
}

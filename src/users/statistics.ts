import type { Pool } from '../platform/db/db.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { listRetentions } from '../projects/projects.ts'
import { learnProjects } from './statistics-store.ts'

/** Looks every minute, because a project may grow by any number of small writes. */
export const statisticsJob = (pool: Pool) =>
  recurring({
    name: 'users.statistics',
    everyMs: 60_000,
    async run() {
      const projects = await listRetentions(pool)
      await learnProjects(
        pool,
        projects.map(({ projectId }) => projectId)
      )
    }
  })

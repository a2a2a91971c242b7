import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { eraseConversionWindow } from './conversion-store.ts'
import { conversionsFrom, type OnConverted } from './conversions.ts'
import { keepStatsJob } from './jobs.ts'
import { readPeriod } from './period.ts'
import { readProjectStats } from './project.ts'
import { readStats } from './reading.ts'
import { type By, eraseStatsWindow } from './store.ts'
import { chooseWinnersJob } from './winners.ts'

export { conversionsOfUser, moveConversions } from './conversion-store.ts'
export type { Converted } from './conversions.ts'
export type Stats = ReturnType<typeof createStats>

export interface StatsOptions {
  pool: Pool
  campaigns: Pick<Campaigns, 'saving' | 'winners'>
  onConverted: OnConverted
}

/** What came of campaigns: funnels over time and conversions. Triggers count the messages. */
export function createStats({ pool, campaigns, onConverted }: StatsOptions) {
  return {
    async read(projectId: ProjectId, campaignId: unknown, given: Parameters<typeof readPeriod>[0], by: By | undefined) {
      const { id } = await campaigns.saving.get(projectId, campaignId)
      const period = readPeriod(given, Date.now())
      return pool.reading((db) => readStats(db, projectId, id, period, by))
    },

    async readProject(projectId: ProjectId, given: Parameters<typeof readPeriod>[0]) {
      const period = readPeriod(given, Date.now())
      return pool.reading((db) => readProjectStats(db, projectId, period))
    },

    /** Counts conversions. */
    subscriber: conversionsFrom(onConverted),

    jobs: [keepStatsJob(pool), chooseWinnersJob(pool, campaigns)],

    /** Deletes up to 5,000 rows of a project that is being erased, and returns how many. */
    eraseWindow: async (db: Db, projectId: ProjectId): Promise<number> =>
      (await eraseConversionWindow(db, projectId)) || eraseStatsWindow(db, projectId)
  }
}

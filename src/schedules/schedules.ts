import type { CampaignSaved } from '../campaigns/campaigns.ts'
import type { Messages } from '../messages/messages.ts'
import type { Discarding } from '../platform/backup/paused.ts'
import type { Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, recurring } from '../platform/jobs/definition.ts'
import type { Triggers } from '../triggers/triggers.ts'
import { occur, occurJobRef, plan, type Wake, wakeAt } from './occur.ts'
import { findDue, findOverdue, lockSchedule, putSchedule, removeSchedule } from './store.ts'

export { findDue as findDueSchedules } from './store.ts'

export interface SchedulesOptions {
  pool: Pool
  triggers: Pick<Triggers, 'acceptInternal'>
  paused: Messages['paused']
}

/** A schedule whose occurrence is as old as this has lost its job. */
const lostMs = 5_000

/** Schedules: they trigger campaigns at their times. */
export function createSchedules({ pool, triggers, paused }: SchedulesOptions) {
  return {
    /** Keeps the schedule of an active campaign, and forgets that of any other. In the transaction that saves it. */
    onSaved: (async (tx, projectId, { id: campaignId, definition }, before) => {
      if (definition.type !== 'scheduled' && before?.type !== 'scheduled') return
      const { type, status, schedule } = definition
      if (type !== 'scheduled' || status !== 'active' || !schedule) await removeSchedule(tx, projectId, campaignId)
      else await plan(tx, { projectId, campaignId }, await putSchedule(tx, projectId, campaignId, schedule, new Date()))
    }) satisfies CampaignSaved,

    /** Skips the occurrences that became due while a backup was not running. Later ones happen: campaigns decide them. */
    async discard({ dueBy, write }: Discarding, projectId: ProjectId): Promise<void> {
      for (const campaignId of await findDue(pool, projectId, dueBy))
        await write(async (tx) => {
          const row = await lockSchedule(tx, projectId, campaignId)
          if (row && row.done_until < dueBy) await plan(tx, { projectId, campaignId }, { ...row, done_until: dueBy })
        })
    },

    jobs: [
      defineJob<Wake>({
        ...occurJobRef,
        async run(ref) {
          // The sweeper wakes it after the resume of the project.
          if (await paused(ref.projectId)) return
          await againIfRaced(() => pool.transaction((tx) => occur(tx, ref, triggers.acceptInternal, Date.now())))
        }
      }),
      recurring({
        name: 'schedules.sweep',
        everyMs: 5_000,
        async run() {
          for (const { project_id, campaign_id } of await findOverdue(pool, new Date(Date.now() - lostMs)))
            await wakeAt(pool, { projectId: project_id, campaignId: campaign_id })
        }
      })
    ]
  }
}

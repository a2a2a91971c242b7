import type { EventSubscriber } from '../events/events.ts'
import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { createPatternMatcher } from '../segments/segments.ts'
import { createArrivals } from './arrivals.ts'
import { createDiscard } from './discard.ts'
import { keepJourneysJob, resumeJourneysJob, scheduleResume, sweepJourneysJob } from './jobs.ts'
import { eraseJourneyWindow } from './maintenance-store.ts'
import { createPlans } from './plan.ts'
import { createSequences } from './sequences.ts'
import { stepJob } from './steps.ts'
import type { TriggerMaker } from './together.ts'

export { usersUnderWay } from './entering-store.ts'
export { countWaitingJourneys, moveJourneys } from './maintenance-store.ts'
export { listJourneys } from './reading-store.ts'
export type Journeys = ReturnType<typeof createJourneys>

/** Users on their way: campaigns that react to events, wait, and go on in steps. */
export function createJourneys({
  pool,
  triggers,
  paused
}: {
  pool: Pool
  triggers: TriggerMaker
  paused: Messages['paused']
}) {
  const plans = createPlans()
  const patterns = createPatternMatcher(pool)
  const subscriber: EventSubscriber = { handle: createArrivals({ plans, triggers, patterns }) }
  return {
    subscriber,
    /** Lets users of a trigger enter the steps of its campaign, and wait for the next one. */
    sequences: createSequences({ pool, plans, patterns }),
    /** Sends what became due while the project was paused. */
    resume: scheduleResume,
    /** Stops the journeys whose next message waited in a backup. */
    discard: createDiscard({ pool, plans }),
    jobs: [
      stepJob({ pool, plans, triggers, patterns, paused }),
      resumeJourneysJob(pool),
      sweepJourneysJob(pool),
      keepJourneysJob(pool)
    ],
    eraseWindow: (db: Db, projectId: ProjectId): Promise<number> => eraseJourneyWindow(db, projectId)
  }
}

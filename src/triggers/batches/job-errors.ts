import { CampaignErased } from '../../campaigns/campaigns.ts'
import { Refusal } from '../../platform/errors.ts'
import { type JobContext, type JobDefinition, RetryLater } from '../../platform/jobs/definition.ts'
import { SegmentBusy } from '../../segments/segments.ts'

type Run<Payload> = JobDefinition<Payload>['run']

/** How soon a job looks again whether its segment may be asked. */
const busyMs = 500
/** How soon it looks again whether the owner of its messages has settled them, or is dead. */
const followedMs = 1_000

/** Thrown by a job that found messages which another living process follows: they are neither sent again nor left. */
export const followedByOthers = (): RetryLater =>
  new RetryLater('another process follows these messages', followedMs, { counts: false })

/** A job whose project is being erased has nothing left to do, and no need to try again. */
export const unlessGone =
  <Payload>(run: Run<Payload>): Run<Payload> =>
  async (payload, context) => {
    try {
      await run(payload, context)
    } catch (error) {
      if (error instanceof SegmentBusy) throw new RetryLater(error.message, busyMs, { counts: false })
      // The one refusal a worker can meet: the project is not there any more.
      if (!(error instanceof CampaignErased) && !(error instanceof Refusal && error.code === 'invalid_api_key'))
        throw error
    }
  }

/** When the last attempt fails too, what is left is booked, so that nothing runs for ever. */
export const orGiveUp =
  <Payload>(run: Run<Payload>, giveUp: (payload: Payload) => Promise<void>): Run<Payload> =>
  async (payload, context: JobContext) => {
    try {
      await run(payload, context)
    } catch (error) {
      if (context.last && !context.signal.aborted && isFault(error)) await giveUp(payload)
      throw error
    }
  }

const isFault = (error: unknown) => !(error instanceof RetryLater || error instanceof SegmentBusy)

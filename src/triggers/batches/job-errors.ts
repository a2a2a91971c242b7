import { CampaignErased } from '../../campaigns/campaigns.ts'
import { Refusal } from '../../platform/errors.ts'
import { type JobDefinition, RetryLater } from '../../platform/jobs/definition.ts'
import { SegmentBusy } from '../../segments/segments.ts'

type Run<Payload> = JobDefinition<Payload>['run']

/** Wait of a job whose segment could not be evaluated, because its project evaluates too many. */
const busyMs = 500
/** Wait of a job whose messages another process owns. */
const ownedMs = 1_000

/** Makes a job wait while another live process owns its messages: the job neither sends nor releases them. */
export const ownedByOthers = (): RetryLater =>
  new RetryLater('another process follows these messages', ownedMs, { counts: false })

/** Ends a job quietly if its project is being erased: nothing is left to do, and a retry would fail the same way. */
export const unlessErased =
  <Payload>(run: Run<Payload>): Run<Payload> =>
  async (payload, context) => {
    try {
      await run(payload, context)
    } catch (error) {
      if (error instanceof SegmentBusy) throw new RetryLater(error.message, busyMs, { counts: false })
      // A worker meets no other refusal: the project does not exist any more.
      if (!(error instanceof CampaignErased) && !(error instanceof Refusal && error.code === 'invalid_api_key'))
        throw error
    }
  }

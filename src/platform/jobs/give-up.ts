import { type JobDefinition, RetryLater } from './definition.ts'

type Run<Payload> = JobDefinition<Payload>['run']

/**
 * Runs `giveUp` when the last attempt fails or loses its worker, so that no work stays pending for ever. If that fails too, as
 * it does while the database cannot be reached, the job stays and makes its last attempt again.
 */
export const orGiveUp = <Payload>(run: Run<Payload>, giveUp: (payload: Payload) => Promise<void>) => ({
  run: (async (payload, context) => {
    try {
      await run(payload, context)
    } catch (error) {
      if (context.last && !context.signal.aborted && !(error instanceof RetryLater))
        await giveUp(payload).catch(({ message }: Error) => {
          throw new RetryLater(message, undefined, { counts: false })
        })
      throw error
    }
  }) satisfies Run<Payload>,
  giveUp
})

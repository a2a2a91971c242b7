import { isDeepStrictEqual } from 'node:util'
import { whyChanged, whyOther } from '../confirmations/binding.ts'
import type { ReachFacts } from '../policies/verdict.ts'

/**
 * Why the approval of what was shown is no approval of what would be done now; undefined where it is. Unlike a
 * confirmation it compares the sample and the devices too: the agent that asks can change users, and so who matches and
 * what they read, while the number of recipients stays.
 */
export function whyOutdated(shown: ReachFacts, now: ReachFacts): string | undefined {
  const counted = (facts: ReachFacts, count: number) => ({ count, complete: facts.complete })
  const other = (noun: string, count: (facts: ReachFacts) => number) =>
    whyOther(noun, counted(shown, count(shown)), counted(now, count(now)))
  const reasons = new Set([...Object.keys(shown.excluded), ...Object.keys(now.excluded)])
  return (
    whyChanged(figuresOf(shown), figuresOf(now)) ??
    other('devices', ({ devices }) => devices) ??
    [...reasons]
      .map((reason) => other(`left out for ${reason}`, ({ excluded }) => excluded[reason] ?? 0))
      .find(Boolean) ??
    (isDeepStrictEqual(shown.sample, now.sample)
      ? undefined
      : 'The people or the texts that were shown have changed meanwhile.')
  )
}

/** A push has no version. */
const figuresOf = ({ campaignVersion = 0, recipients, complete }: ReachFacts) => ({
  campaignVersion,
  recipients,
  complete
})

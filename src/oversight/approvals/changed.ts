import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../projects/projects.ts'
import { whyChanged, whyOther } from '../confirmations/binding.ts'
import type { ReachFacts, Verdict } from '../policies/verdict.ts'

/**
 * Why the approval of what was shown is no approval of what would be done now; undefined where it is. Unlike a
 * confirmation it compares the sample and the devices too: the agent that asks can change users, and so who matches and
 * what they read, while the number of recipients stays.
 */
export function whyOutdated(shown: ReachFacts, now: ReachFacts): string | undefined {
  const numberOf = (facts: ReachFacts, count: number) => ({ count, complete: facts.complete })
  const other = (noun: string, count: (facts: ReachFacts) => number) =>
    whyOther(noun, numberOf(shown, count(shown)), numberOf(now, count(now)))
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

/**
 * Why a person is asked again, with the present number of users: the reason of the first request has the former one. The
 * verdict is another than `approval` where the policy was changed, or where fewer users need no approval any more.
 */
export function reasonNow(verdict: Verdict, { recipients, complete }: ReachFacts, why: string): string {
  if (verdict.kind === 'approval') return verdict.reason
  return `${why} The action would reach ${complete ? '' : 'at least '}${counted(recipients, 'user')} now.`
}

/** A push has no version. */
const figuresOf = ({ campaignVersion = 0, recipients, complete }: ReachFacts) => ({
  campaignVersion,
  recipients,
  complete
})

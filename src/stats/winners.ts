import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Pool } from '../platform/db/db.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { type Results, resultsOfVariants } from './store.ts'

/** How often results are looked at. */
const everyMs = 60_000
/**
 * The lead of a winner, in standard errors of the difference: 99 %. Results are looked at again and again, and each look
 * is another chance to be wrong.
 */
const sure = 2.58

/** Which rate decides: the count of successes and of tries. */
const rates = {
  conversion: ({ converted, users }: Results) => [converted, users],
  tapped: ({ tapped, sent }: Results) => [tapped, sent],
  delivered: ({ delivered, sent }: Results) => [delivered, sent]
} as const

/**
 * The variant whose rate is the best, and better than that of each other one beyond chance (a test of two proportions).
 * Undefined before `after` messages were sent, and while two may be equally good.
 */
export function bestOf(
  { after, by }: { after: number; by: keyof typeof rates },
  results: ReadonlyMap<string, Results>
): string | undefined {
  let sent = 0
  const all = [...results].map(([variant, result]) => {
    sent += result.sent
    const [won = 0, tried = 0] = rates[by](result)
    return { variant, won, tried, rate: tried > 0 ? won / tried : 0 }
  })
  if (sent < after || all.some(({ tried }) => tried === 0)) return undefined
  const [best, ...others] = all.sort((one, two) => two.rate - one.rate)
  const beats = (other: (typeof all)[number]) => {
    const rate = (best!.won + other.won) / (best!.tried + other.tried)
    const error = Math.sqrt(rate * (1 - rate) * (1 / best!.tried + 1 / other.tried))
    return error > 0 && (best!.rate - other.rate) / error >= sure
  }
  return best && others.every(beats) ? best.variant : undefined
}

/** Runs every minute: chooses the winners of campaigns that let their results decide. */
export const chooseWinnersJob = (pool: Pool, { winners }: Pick<Campaigns, 'winners'>) =>
  recurring({
    name: 'stats.choose_winners',
    everyMs,
    async run({ signal }) {
      for (const { projectId, campaignId } of await winners.awaiting())
        for (const { step, variants, rule } of await winners.open(projectId, campaignId)) {
          signal.throwIfAborted()
          const found = await resultsOfVariants(pool, projectId, campaignId, step ?? '', variants)
          const variant = bestOf(rule, found)
          if (variant !== undefined)
            await winners.choose(projectId, 'tidings', campaignId, { step, variant, by: rule.by })
        }
    }
  })

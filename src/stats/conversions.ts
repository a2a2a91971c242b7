import type { ArrivedEvent, EventSubscriber } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import { parseDuration } from '../platform/duration.ts'
import type { ProjectId } from '../platform/ids.ts'
import {
  addConversions,
  type Candidate,
  type Conversion,
  findCredits,
  findGoals,
  type Goal
} from './conversion-store.ts'
import { hourMs } from './period.ts'

/** A user who converted for a trigger for the first time, after a message. */
export type Converted = Conversion & { message_id: string; event: string }

/** Receives conversions in the transaction that counts them. */
export type OnConverted = (tx: Db, projectId: ProjectId, conversions: Converted[]) => Promise<void>

/** Larger numbers are mistakes, such as a time in place of an amount. */
const largest = 1e12
const decimals = 6

/** A number as a decimal without rounding noise: sums of these are exact. Anything else counts nothing. */
export function decimalOf(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > largest) return '0'
  return value.toFixed(decimals)
}

/** Counts conversions from events, each of which it gets once. */
export const conversionsFrom = (onConverted: OnConverted): EventSubscriber => ({
  async handle(tx, projectId, events) {
    const goals = await findGoals(tx, projectId, [...new Set(events.map(({ name }) => name))])
    if (goals.length === 0) return
    const matches = events.flatMap((event) =>
      goals.filter(({ conversion }) => conversion.event === event.name).map((goal) => ({ event, goal }))
    )
    const credits = await findCredits(tx, projectId, matches.map(candidateOf))
    if (credits.length === 0) return
    const seen = new Set<string>()
    // Events come sorted by time, and so do their credits: the first one of a user leads.
    const conversions = credits
      .toSorted((one, other) => one.n - other.n)
      .map(({ n, ...credit }) => {
        const { event, goal } = matches[n]!
        const key = `${credit.trigger_id} ${event.userId}`
        const leads = !seen.has(key)
        seen.add(key)
        return { ...credit, ...factsOf(event, goal), leads, event: event.name }
      })
    const added = await addConversions(tx, projectId, conversions)
    const fresh = new Set(added.map(({ trigger_id, user_id }) => `${trigger_id} ${user_id}`))
    const first = conversions.filter(
      (one): one is typeof one & { message_id: string } =>
        one.leads && one.message_id !== null && fresh.has(`${one.trigger_id} ${one.user_id}`)
    )
    if (first.length > 0) await onConverted(tx, projectId, first)
  }
})

const candidateOf = ({ event, goal }: { event: ArrivedEvent; goal: Goal }, n: number): Candidate => ({
  n,
  campaign_id: goal.campaign_id,
  user_id: event.userId,
  since: new Date(event.at.getTime() - (parseDuration(goal.conversion.within) ?? 0)),
  at: event.at
})

const factsOf = ({ userId, at, properties }: ArrivedEvent, { campaign_id, conversion }: Goal) => ({
  campaign_id,
  user_id: userId,
  at,
  hour: new Date(Math.floor(at.getTime() / hourMs) * hourMs),
  value: decimalOf(conversion.value_property === undefined ? undefined : properties[conversion.value_property])
})

import { outcomesOver } from '../messages/messages.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Period } from './period.ts'
import { type Figures, names, readProjectSums } from './store.ts'

/** More campaigns than a person reads. */
const mostCampaigns = 100

const none = Object.fromEntries(names.map((name) => [name, 0])) as Figures
const figuresOf = (sums: Record<string, string>) =>
  Object.fromEntries(names.map((name) => [name, Number(sums[name])])) as Figures
const plus = (one: Figures, other: Figures) =>
  Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Figures

/**
 * What was sent without a campaign: all messages less those of campaigns. Both are counted in one transaction, but a
 * message may fall into two points if that transaction runs over the end of an hour; no figure is below zero.
 */
function directOf(all: Pick<Figures, 'sent' | 'failed' | 'delivered' | 'tapped'>, campaigns: Figures): Figures {
  const rest = (name: 'sent' | 'failed' | 'delivered' | 'tapped') => Math.max(0, all[name] - campaigns[name])
  const [sent, failed] = [rest('sent'), rest('failed')]
  return { ...none, targeted: sent + failed, sent, failed, delivered: rest('delivered'), tapped: rest('tapped') }
}

/** What came of everything that a project sent in a period: in all, for each point, for each campaign and directly. */
export async function readProjectStats(db: Db, projectId: ProjectId, period: Period) {
  const { fromMs, untilMs, stepMs } = period
  const [rows, outcomes] = await Promise.all([
    readProjectSums(db, projectId, period, mostCampaigns),
    outcomesOver(db, projectId, new Date(fromMs), new Date(untilMs), stepMs)
  ])
  const ofCampaigns = new Map(
    rows.filter(({ over_at }) => !over_at).map(({ at, sums }) => [at!.getTime(), figuresOf(sums)])
  )
  const all = new Map(outcomes.map(({ at, ...counts }) => [at.getTime(), counts]))
  let direct = none
  const series = Array.from({ length: (untilMs - fromMs) / stepMs }, (_, index) => {
    const atMs = fromMs + index * stepMs
    const campaigns = ofCampaigns.get(atMs) ?? none
    const rest = directOf(all.get(atMs) ?? none, campaigns)
    direct = plus(direct, rest)
    return { at: new Date(atMs).toISOString(), ...plus(campaigns, rest) }
  })
  const total = rows.find(({ over_at, campaign_id }) => over_at && campaign_id === null)
  const campaigns = rows
    .filter(({ over_at, campaign_id }) => over_at && campaign_id !== null)
    .map(({ campaign_id, name, sums }) => ({ campaign_id: campaign_id!, name, totals: figuresOf(sums) }))
  return { totals: plus(total ? figuresOf(total.sums) : none, direct), direct, series, campaigns }
}

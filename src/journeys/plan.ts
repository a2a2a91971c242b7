import { type Campaign, CampaignErased, findVersion, heldOutOf } from '../campaigns/campaigns.ts'
import type { Db } from '../platform/db/db.ts'
import { parseDuration } from '../platform/duration.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { AttributeCondition } from '../segments/segments.ts'

/** An event with conditions on its properties. */
export interface Awaited {
  event: string
  where: AttributeCondition[]
}

/** What a version of a campaign does with a user over time. */
export interface Plan {
  campaignId: string
  version: number
  /** The event that starts it; undefined for campaigns of other types. */
  trigger: Awaited | undefined
  delayMs: number
  /** Ends a journey during the delay. */
  unless: Awaited | undefined
  /** Ends a journey at any time. */
  exit: Awaited | undefined
  /** How long a user may not enter again; Infinity: only once; 0: every event counts. */
  againMs: number
  /** One entry for each message, in order. A campaign without steps has one without an id. */
  steps: { id: string | null; waitMs: number }[]
  /** Whether a user gets nothing, for comparison. */
  heldOut: (userId: string) => boolean
}

export type Plans = (db: Db, projectId: ProjectId, campaignId: string, version: number) => Promise<Plan>

/** Versions never change, so the cache needs only a limit. */
const maxCached = 1_000

export function createPlans(): Plans {
  const cached = new Map<string, Plan>()
  return async (db, projectId, campaignId, version) => {
    const key = JSON.stringify([projectId, campaignId, version])
    const known = cached.get(key)
    if (known) return known
    const definition = await findVersion(db, projectId, campaignId, version)
    if (!definition) throw new CampaignErased(`version ${version} of campaign ${campaignId}`)
    const plan = planOf(definition, campaignId, version)
    if (cached.size >= maxCached) cached.delete(cached.keys().next().value!)
    cached.set(key, plan)
    return plan
  }
}

export function planOf(campaign: Campaign, campaignId: string, version: number): Plan {
  const { type, event_trigger, exit, steps } = campaign
  const starts = type === 'event_triggered' ? event_trigger : undefined
  return {
    campaignId,
    version,
    trigger: awaited(starts),
    delayMs: parseDuration(starts?.delay) ?? 0,
    unless: awaited(starts?.unless),
    exit: awaited(exit),
    againMs: starts?.reentry === 'once' ? Number.POSITIVE_INFINITY : (parseDuration(starts?.reentry) ?? 0),
    steps: steps?.map(({ id, wait }) => ({ id, waitMs: parseDuration(wait) ?? 0 })) ?? [{ id: null, waitMs: 0 }],
    heldOut: heldOutOf(campaign) ?? (() => false)
  }
}

/** Whether a user stays in the campaign after its first message. */
export const isSequence = ({ steps }: Plan): boolean => steps.length > 1

const awaited = (given: { event: string; where?: object[] } | undefined): Awaited | undefined =>
  given && { event: given.event, where: (given.where ?? []) as AttributeCondition[] }

const secondMs = 1_000
const minuteMs = 60_000

/**
 * The time at which a message is due. Users who are due in the same minute share a trigger; after a wait of less than a
 * minute, those of the same second do. Never earlier than asked for.
 */
export function dueAfter(from: Date, waitMs: number): Date {
  const unit = waitMs < minuteMs ? secondMs : minuteMs
  return new Date(Math.ceil((from.getTime() + waitMs) / unit) * unit)
}

/** How long an ended journey stays visible. */
export const shownMs = 30 * 86_400_000

/** How long a journey is kept after the user entered, in ms; null: forever, because the user may enter only once. */
export const keepMsOf = ({ againMs }: Plan): number | null =>
  againMs === Number.POSITIVE_INFINITY ? null : Math.max(againMs, shownMs)

/** What decides whether a journey that ended counts. */
interface Ended {
  state: string
  step: number
  first_trigger: string | null
}

/** Whether the journey ended before its first message: the user may enter again. */
export const gotNothing = ({ state, step, first_trigger }: Ended): boolean =>
  (state === 'exited' && step === 0) || (state === 'stopped' && first_trigger === null)

/** Until when a journey that ends now is kept; null: forever. */
export function keepUntil(plan: Plan, ended: Ended, now: Date): Date | null {
  const keepMs = gotNothing(ended) ? shownMs : keepMsOf(plan)
  return keepMs === null ? null : new Date(now.getTime() + keepMs)
}

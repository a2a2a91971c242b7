import {
  findEndpoints,
  lookUpWinners,
  notAfterOf,
  type ProjectOf,
  type Reachable,
  type Ready,
  type RecipientWithChoices,
  type Resolved,
  readAudience,
  resolveReachable,
  rulesFor,
  type StoredTarget,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { MessageRow, Messages } from '../../messages/messages.ts'
import { createCoalescer } from '../../platform/coalesce.ts'
import { type Db, isDataFault, type Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { orGiveUp } from '../../platform/jobs/give-up.ts'
import { steadyMs } from '../../platform/time.ts'
import { topicDefaults } from '../../preferences/preferences.ts'
import { SegmentFailed } from '../../segments/segments.ts'
import { type OnEnded, startTriggers } from '../counting/counter-store.ts'
import { learnTriggers } from '../counting/statistics-store.ts'
import { smallTargets } from '../store.ts'
import { type Start, startJobRef, wakeAll } from '../wake.ts'
import { addSkips } from './batch-store.ts'
import { type Drafts, deltaOf, draftTogether, renderMs } from './draft.ts'
import { loadTriggers, type RunningTrigger } from './expansion-store.ts'
import type { FreeSlots } from './free-slots.ts'
import { ownedByOthers, unlessErased } from './job-errors.ts'
import { enterSteps, type Sequences } from './sequence.ts'
import { createTurns } from './turns.ts'

/** How long a job waits for gateways. Messages they have not taken by then are released, and other jobs get a turn. */
const dispatchMs = 3_000
/** Projects whose triggers are written at the same time: each holds a connection of the pool. */
const writesAtOnce = 4
/** With this weight a write has about a thousand targets at most. */
const bytesOfTarget = 4_096

/** A trigger whose whole audience fits into one step. */
interface Small {
  trigger: RunningTrigger
  ready: Ready
  targets: StoredTarget[]
  reason: string | null
}

type ResolvedTrigger = Small & { resolved: Resolved }

/** A trigger with its messages, before they are written. */
interface Drafted extends Omit<Small, 'targets'>, Pick<Drafts, 'messages' | 'skips'> {
  recipients: RecipientWithChoices[]
}

/** Some of the triggers were started by another run, or canceled. `left`: the others. */
class Elsewhere extends Error {
  readonly left: ReadonlySet<string>

  constructor(left: ReadonlySet<string>) {
    super('a trigger was started or canceled meanwhile')
    this.left = left
  }
}

/** The templates of these triggers take too long to be rendered together. */
class TooSlow extends Error {}

export interface SmallTriggersOptions {
  pool: Pool
  messages: Pick<Messages, 'persist' | 'findUnanswered' | 'dispatch' | 'release' | 'paused'>
  versions: Versions
  onEnded: OnEnded
  freeSlots: FreeSlots
  projectOf: ProjectOf
  sequences: () => Sequences
}

/**
 * Starts triggers that were accepted together. Those with a few targets, which are most, are looked up, rendered and
 * written together with those of other jobs of their project that arrive meanwhile: hundreds take as many statements as
 * one. All others are woken to be expanded.
 */
export class SmallTriggers {
  readonly #options: SmallTriggersOptions
  readonly #turns = createTurns(writesAtOnce)
  readonly #writes = createCoalescer<Small, MessageRow[]>(
    (projectId, small) => this.#writeTogether(projectId, small),
    ({ targets }) => targets.length * bytesOfTarget,
    { isOfRequests: false }
  )

  constructor(options: SmallTriggersOptions) {
    this.#options = options
  }

  readonly job = defineJob<Start>({
    ...startJobRef,
    maxAttempts: 5,
    ...orGiveUp(
      unlessErased((ref, job) => this.#run(ref, job)),
      (ref) => this.#giveUp(ref)
    )
  })

  async #run({ projectId, triggerIds, accepted }: Start, job: JobContext): Promise<void> {
    const { pool, messages, freeSlots } = this.#options
    const triggers = accepted ?? (await loadTriggers(pool, projectId, triggerIds))
    // An earlier run wrote messages and did not finish: its process died, or lost its lease and owns them still. A process that
    // stopped releases its jobs without counting the attempt.
    const left = accepted ? [] : await this.#unanswered(projectId, triggers)
    // The resume of the project adds this job again, for the triggers that were not started.
    if (await messages.paused(projectId)) return this.#release(projectId, left)
    const fresh = triggers.filter(({ outcome, cursor }) => outcome === null && cursor === '')
    const small = (await Promise.all(fresh.map((trigger) => this.#asSmall(projectId, trigger)))).filter(
      (one) => one !== undefined
    )
    const smallIds = new Set(small.map(({ trigger }) => trigger.id))
    await wakeAll(
      pool,
      projectId,
      fresh.flatMap(({ id }) => (smallIds.has(id) ? [] : id))
    )
    // The write waits for others of its project, so it needs no slot either.
    const most = small.reduce((sum, { targets }) => sum + targets.length, left.length)
    await freeSlots(job, most, () => this.#send(projectId, small, left, job))
  }

  /** Messages of an earlier run. Those of triggers that were canceled since are released: the retry job cancels them. */
  async #unanswered(projectId: ProjectId, triggers: RunningTrigger[]): Promise<MessageRow[]> {
    const started = triggers.filter(({ outcome }) => outcome !== null)
    if (started.length === 0) return []
    const ids = started.map(({ id }) => id)
    const left = await this.#options.messages.findUnanswered(projectId, ids)
    const canceled = new Set(started.flatMap(({ id, outcome }) => (outcome === 'canceled' ? id : [])))
    await this.#release(
      projectId,
      left.filter(({ trigger_id }) => canceled.has(trigger_id))
    )
    return left.filter(({ trigger_id }) => !canceled.has(trigger_id))
  }

  async #giveUp({ projectId, triggerIds }: Start): Promise<void> {
    await this.#release(projectId, await this.#options.messages.findUnanswered(projectId, triggerIds))
  }

  /** Leaves messages that are not settled to the retry job. */
  #release(projectId: ProjectId, rows: MessageRow[]): Promise<void> {
    const { pool, messages } = this.#options
    return againIfRaced(() => messages.release(pool, projectId, rows))
  }

  /** Writes and dispatches. `left`: messages of an earlier run. */
  async #send(projectId: ProjectId, small: Small[], left: MessageRow[], job: JobContext): Promise<void> {
    const { pool, messages } = this.#options
    const ended = await Promise.allSettled(small.map((one) => this.#writes.write(projectId, one.trigger.id, one)))
    const failed = small.flatMap(({ trigger }, index) => {
      const { status, reason } = ended[index] as PromiseRejectedResult
      return status === 'rejected' ? [{ id: trigger.id, error: reason as unknown }] : []
    })
    // One bad trigger must not stop the others.
    const alone = failed.filter(({ error }) => needsExpansion(error)).map(({ id }) => id)
    // The messages that were written go first.
    const [waking] = await Promise.allSettled([wakeAll(pool, projectId, alone)])
    const rows = [...ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])), ...left]
    if (rows.length > 0) {
      const options = { deadline: steadyMs() + dispatchMs, signal: job.signal }
      const others = await messages.dispatch(projectId, rows, options)
      if (others.length > 0) throw ownedByOthers()
      await this.#release(projectId, rows)
    }
    if (waking.status === 'rejected') throw waking.reason
    const unwritten = failed.find(({ error }) => !needsExpansion(error))
    if (unwritten) throw unwritten.error
  }

  async #asSmall(
    projectId: ProjectId,
    { targets, ...trigger }: RunningTrigger & { targets: StoredTarget[] | null }
  ): Promise<Small | undefined> {
    // Limits of recipients are counted batch by batch, and users of other zones are left out step by step.
    if (trigger.audience === 'broadcast' || trigger.source?.local !== undefined || trigger.most_recipients !== null)
      return undefined
    const ready = await this.#options.versions.get(projectId, trigger.campaign_id, trigger.campaign_version)
    const { default_audience, throttle_per_second, frequency_cap, quiet_hours, live_activity } = ready.definition
    if (throttle_per_second || frequency_cap || quiet_hours || live_activity) return undefined
    const { limits, quietHours } = await rulesFor(this.#options.projectOf, projectId, ready.definition)
    if (limits.length > 0 || quietHours) return undefined
    if (trigger.audience === 'targets') return targets ? { trigger, ready, targets, reason: null } : undefined
    if (!default_audience) return { trigger, ready, targets: [], reason: 'no_audience' }
    const audience = readAudience(default_audience)
    if ('broadcast' in audience || audience.targets.length > smallTargets) return undefined
    return { trigger, ready, targets: audience.targets, reason: null }
  }

  /** Writes triggers together. Returns the messages of each, none of those that were started or canceled meanwhile. */
  async #writeTogether(projectId: ProjectId, small: Small[]): Promise<MessageRow[][]> {
    const rows = await this.#turns(() => this.#writeAll(projectId, small))
    const rowsOf = Map.groupBy(rows, ({ trigger_id }) => trigger_id)
    return small.map(({ trigger }) => rowsOf.get(trigger.id) ?? [])
  }

  async #writeAll(projectId: ProjectId, small: Small[]): Promise<MessageRow[]> {
    try {
      const rows = await againIfRaced((again) => this.#write(projectId, small, !again))
      // A failure makes plans slow and nothing worse.
      await learnTriggers(this.#options.pool, small.length).catch(() => {})
      return rows
    } catch (error) {
      if (!(error instanceof Elsewhere)) throw error
      // Each round leaves some out.
      const left = small.filter(({ trigger }) => error.left.has(trigger.id))
      return this.#writeAll(projectId, left)
    }
  }

  /** Looks up and renders before the transaction, so that the transaction is short. */
  async #write(projectId: ProjectId, small: Small[], areNew: boolean): Promise<MessageRow[]> {
    if (small.length === 0) return []
    const { pool, messages, onEnded, sequences } = this.#options
    const wanted = small.map(({ trigger, ready, targets }) => ({ segmentOf: ready.segmentsFor(trigger), targets }))
    const { resolved, recipients } = await resolveReachable(pool, projectId, wanted)
    const drafted = await draftAll(
      pool,
      projectId,
      small.map((one, index) => ({ ...one, resolved: resolved[index]! })),
      recipients
    )
    return pool.transaction(async (tx) => {
      for (const one of drafted) await enterAll(tx, projectId, one, sequences())
      const drafts = drafted.flatMap((one) => one.messages)
      const rows = await messages.persist(tx, projectId, drafts, { owner: 'untimed', areNew })
      const skips = drafted.flatMap((one) => one.skips)
      const skipsOf = Map.groupBy(await addSkips(tx, projectId, skips, new Date()), ({ triggerId }) => triggerId)
      // Fewer than the drafts if a user was deleted meanwhile.
      const rowsOf = Map.groupBy(rows, ({ trigger_id }) => trigger_id)
      const deltas = drafted.map(({ trigger: { id }, reason }) => ({
        ...deltaOf(id, rowsOf.get(id) ?? [], skipsOf.get(id) ?? [], new Map()),
        reason
      }))
      const started = await startTriggers(tx, projectId, deltas, onEnded)
      if (started.length < deltas.length) throw new Elsewhere(new Set(started.map(({ id }) => id)))
      return rows
    })
  }
}

/** Whether a trigger could not be written with others, so that it is expanded by itself. */
const needsExpansion = (error: unknown) =>
  error instanceof SegmentFailed || error instanceof TooSlow || isDataFault(error)

/** Throws `TooSlow` if rendering takes longer than a batch may. */
async function draftAll(
  pool: Pool,
  projectId: ProjectId,
  triggers: ResolvedTrigger[],
  recipientOf: Map<string, Reachable>
): Promise<Drafted[]> {
  const endpoints = await findEndpoints(pool, projectId, undefined, [...recipientOf.values()])
  const named = new Set(triggers.flatMap(({ ready }) => ready.definition.topic ?? []))
  const topics = await topicDefaults(pool, projectId, [...named])
  const winnerOf = await lookUpWinners(
    pool,
    projectId,
    triggers.map(({ trigger, ready }) => ({ campaignId: trigger.campaign_id, texts: ready.texts(trigger.step) }))
  )
  const requests = triggers.map(({ trigger, ready, targets, resolved: { deviceIds, places } }) => ({
    trigger,
    ready,
    recipients: deviceIds.flatMap((id, index) => {
      const own = trigger.target_properties ? targets[places[index]!]![2] : undefined
      const recipient = recipientOf.get(id)
      return recipient ? (own ? { ...recipient, own } : recipient) : []
    }),
    endpoints,
    topics,
    capped: new Set<string>(),
    winner: winnerOf(trigger.campaign_id, ready.texts(trigger.step)),
    notAfter: notAfterOf(ready.definition, trigger.started_at)
  }))
  const began = steadyMs()
  const drafts = await draftTogether(requests)
  if (drafts.some(({ deferred }) => deferred.size > 0) || steadyMs() - began > renderMs) throw new TooSlow()
  return triggers.map(({ trigger, ready, reason, resolved }, index) => {
    const { messages, skips } = drafts[index]!
    const unreached = resolved.skips.map((skip) => ({ ...skip, triggerId: trigger.id }))
    return {
      trigger,
      ready,
      reason,
      recipients: requests[index]!.recipients,
      messages,
      skips: [...unreached, ...skips]
    }
  })
}

/** Lets users enter the steps of a campaign. Those who may not are skipped for that, and for nothing else. */
async function enterAll(tx: Db, projectId: ProjectId, drafted: Drafted, sequences: Sequences): Promise<void> {
  const { refused } = await enterSteps(tx, projectId, drafted, sequences)
  if (refused.length === 0) return
  const devices = new Set(refused.map(({ value }) => value))
  drafted.messages = drafted.messages.filter(({ endpoint }) => !devices.has(endpoint.deviceId))
  const others = drafted.skips.filter(({ kind, value }) => kind !== 'device_id' || !devices.has(value))
  drafted.skips = [...others, ...refused]
}

import { setTimeout as sleep } from 'node:timers/promises'
import { channelOf, type End } from '../channels/channels.ts'
import { type Coalescer, createCoalescer } from '../platform/coalesce.ts'
import { type Db, isPassing, type Pool, type Transaction } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { together } from '../platform/db/together.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { Gatherer } from './gather.ts'
import type { Journal, Noted } from './journal/journal.ts'
import type { OutcomeChange } from './message.ts'
import { type Settlement, settleMessages } from './settle-store.ts'
import { keyOf } from './store.ts'

/**
 * Takes part in the transaction that settles messages, so that the data of other capabilities about messages changes
 * with them. May return a step that runs after all subscribers.
 */
export type OnSettled = (
  tx: Db,
  projectId: ProjectId,
  changes: OutcomeChange[]
) => Promise<(() => Promise<void>) | undefined | void>

export type Publish = (tx: Db, projectId: ProjectId, changes: OutcomeChange[]) => Promise<void>

/**
 * Runs the subscribers all at once: one after the other, each would wait for its turn in a busy process. Then it runs
 * the steps that they returned, in the order of the list: webhooks get the last messages of a trigger before its end.
 */
export const inOrder =
  (subscribers: readonly OnSettled[]): Publish =>
  async (tx, projectId, changes) => {
    const last: ((() => Promise<void>) | undefined | void)[] = []
    const run = async (subscriber: OnSettled, index: number) => {
      last[index] = await subscriber(tx, projectId, changes)
    }
    await together(...subscribers.map(run))
    for (const step of last) await step?.()
  }

/** One outcome to write. */
export interface Settling {
  settlement: Settlement
  /** Set if a gateway has responded for good: its channel is then notified. */
  end?: End | undefined
}

/** An outcome on its way to the database, for which `done` is called once. */
interface Waiting {
  settling: Settling
  noted: Noted
  done(recorded: boolean): void
}

/** Waits after a failure; the last one repeats for as long as the database cannot be reached. */
const waitsMs = [100, 200, 500, 1_000]
/** The most refusals by a working database, after which the outcome is dropped. */
const refusalsForgiven = 5
/** With many outcomes, the next ones are awaited: a transaction costs as much for ten as for fifty. */
const gatherMs = 20
/**
 * If a process is killed, the messages that it dispatched and did not settle are sent again. So while the database does
 * not keep up (more than a few outcomes wait for it), at most this many messages of a project are at the gateways or
 * wait to be settled. While the database cannot be reached, nothing more is dispatched: the waiting outcomes belong to
 * messages that were dispatched before.
 */
const mostUnsettled = 800
const fewWaiting = 200
/** The limit for all projects together, so that outcomes do not fill the memory. */
const mostWaiting = 4_000

export interface SettlerOptions {
  pool: Pool
  log: Log
  metrics: Metrics
  publish: Publish
  scheduleRetry: (tx: Db, projectId: ProjectId, at: Date) => Promise<void>
  /** Keeps accepted pushes over kill -9 of this process until the database has them. */
  journal?: Journal | undefined
}

/** Writes outcomes: rows, subscribers, endpoints and retries change in one transaction for many messages. */
export class Settler {
  readonly #pool: Pool
  readonly #log: Log
  readonly #publish: Publish
  readonly #scheduleRetry: SettlerOptions['scheduleRetry']
  readonly #journal: Journal | undefined
  readonly #writes: Coalescer<Settling, void>
  readonly #accepted: Gatherer<Waiting>
  readonly #metrics: Metrics
  #waiting = 0
  readonly #waitingOf = new Map<ProjectId, number>()
  readonly #blocked: (() => void)[] = []
  #waking = false
  /** Whether the last write could not reach the database. */
  #away = false
  #closed = false
  readonly #counts = new Map<string, { labels: { state: string; reason: string }; value: number }>()

  constructor({ pool, log, metrics, publish, scheduleRetry, journal }: SettlerOptions) {
    this.#pool = pool
    this.#log = log
    this.#publish = publish
    this.#scheduleRetry = scheduleRetry
    this.#journal = journal
    this.#metrics = metrics
    metrics.counter('tidings_messages_total', 'Messages that came to an end, by device.', () => [
      ...this.#counts.values()
    ])
    this.#accepted = new Gatherer((projectId, waiting) => this.#record(projectId, waiting), pool.isDistributed)
    this.#writes = createCoalescer<Settling, void>(
      async (projectId, batch) => {
        await this.#write(projectId, batch)
        return []
      },
      undefined,
      { gatherMs, isOfRequests: false }
    )
  }

  /**
   * Keeps the outcome until the database has accepted it, however long that takes. False if this process stops before,
   * or the database refuses it: then the row is unchanged, and another process finds it by its time.
   */
  settle(projectId: ProjectId, settling: Settling): Promise<boolean> {
    this.#enter(projectId)
    const { settlement } = settling
    const noted = settlement.state === 'accepted' ? this.#journal?.note(projectId, settlement) : undefined
    return this.#keep(projectId, settling, noted)
  }

  /**
   * Does the same for a push that a gateway accepted, and calls `done`. Most outcomes of a broadcast take this way. `isLast`:
   * a caller waits for it, and gateways have no other message of the project.
   */
  accepted(projectId: ProjectId, settling: Settling, isLast: boolean, done: (recorded: boolean) => void): void {
    this.#enter(projectId)
    const noted = this.#journal?.note(projectId, settling.settlement)
    this.#accepted.add(projectId, { settling, noted, done }, isLast)
  }

  async #keep(projectId: ProjectId, settling: Settling, noted: Noted): Promise<boolean> {
    let refusals = 0
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          await this.#attempt(projectId, settling)
          this.#noteDatabase(false)
          this.#journal?.settled(noted)
          return true
        } catch (error) {
          const isAway = isPassing(error)
          if (isAway) this.#noteDatabase(true, error)
          else refusals += 1
          if (this.#closed || refusals > refusalsForgiven) {
            this.#log.error({ error, projectId }, 'an outcome was not recorded')
            // If this process only stops, the line stays for the next start.
            if (!this.#closed) this.#journal?.settled(noted)
            return false
          }
        }
        await sleep(waitsMs[Math.min(tries, waitsMs.length - 1)]!)
      }
    } finally {
      this.#leave(projectId)
    }
  }

  /** Undefined while the database keeps up; otherwise resolves when it does. */
  room(projectId: ProjectId, submitted: () => number): Promise<void> | undefined {
    return this.#isFull(projectId, submitted()) ? this.#untilRoom(projectId, submitted) : undefined
  }

  /** From now on an outcome that the database does not accept is dropped, because the process ends. */
  close(): void {
    this.#closed = true
    this.#journal?.close()
  }

  get closed(): boolean {
    return this.#closed
  }

  async #settleTogether(tx: Transaction, projectId: ProjectId, batch: Settling[]): Promise<OutcomeChange[]> {
    const settlements = batch.map(({ settlement }) => settlement)
    const changes = changesOf(await settleMessages(tx, projectId, settlements, new Date()))
    if (changes.length > 0) await this.#publish(tx, projectId, changes)
    const ends = batch.flatMap(({ end }) => end ?? [])
    for (const [channel, own] of Map.groupBy(ends, ({ message }) => channelOf(message.content)))
      await channel.settled(tx, projectId, own)
    const due = settlements.flatMap(({ due_at }) => due_at?.getTime() ?? [])
    if (due.length > 0) await this.#scheduleRetry(tx, projectId, new Date(Math.min(...due)))
    return changes
  }

  async #write(projectId: ProjectId, batch: Settling[]): Promise<void> {
    this.#metrics.coalesced('outcomes', batch.length)
    const changes = await againIfRaced(() => this.#pool.transaction((tx) => this.#settleTogether(tx, projectId, batch)))
    for (const change of changes) this.#count(change)
  }

  /** After a failure each outcome goes its own way: it is repeated, and one that the database refuses fails alone. */
  async #record(projectId: ProjectId, waiting: Waiting[]): Promise<void> {
    try {
      await this.#write(
        projectId,
        waiting.map(({ settling }) => settling)
      )
    } catch (error) {
      if (isPassing(error)) this.#noteDatabase(true, error)
      for (const { settling, noted, done } of waiting) void this.#keep(projectId, settling, noted).then(done)
      return
    }
    this.#noteDatabase(false)
    for (const { noted, done } of waiting) {
      this.#journal?.settled(noted)
      this.#leave(projectId)
      done(true)
    }
  }

  async #attempt(projectId: ProjectId, settling: Settling): Promise<void> {
    try {
      await this.#writes.write(projectId, keyOf(settling.settlement), settling)
    } catch (error) {
      if (isPassing(error)) throw error
      await this.#settleAlone(projectId, settling, error)
    }
  }

  /** An error of a subscriber must not repeat a message that a gateway has accepted. */
  async #settleAlone(projectId: ProjectId, { settlement }: Settling, error: unknown): Promise<void> {
    this.#log.error({ error, projectId }, 'an outcome could not be told')
    await againIfRaced(() => this.#pool.transaction((tx) => settleMessages(tx, projectId, [settlement], new Date())))
  }

  #count({ to: state, reason }: OutcomeChange): void {
    const labels = { state, reason: reason ?? '' }
    const known = this.#counts.get(`${state} ${reason}`)
    if (known) known.value += 1
    else this.#counts.set(`${state} ${reason}`, { labels, value: 1 })
  }

  #noteDatabase(isAway: boolean, error?: unknown): void {
    if (isAway && !this.#away) this.#log.error({ error }, 'outcomes wait in memory: the database does not take them')
    if (!isAway && this.#away) this.#log.info('outcomes are recorded again: the database takes them')
    this.#away = isAway
  }

  /** `submitted`: messages of the project that no gateway has responded to yet. */
  #isFull(projectId: ProjectId, submitted: number): boolean {
    const own = this.#waitingOf.get(projectId) ?? 0
    if (this.#waiting >= mostWaiting || (this.#away && this.#waiting > 0)) return true
    return own >= fewWaiting && own + submitted >= mostUnsettled
  }

  async #untilRoom(projectId: ProjectId, submitted: () => number): Promise<void> {
    while (this.#isFull(projectId, submitted())) await new Promise<void>((resolve) => this.#blocked.push(resolve))
  }

  #enter(projectId: ProjectId): void {
    this.#waiting += 1
    this.#waitingOf.set(projectId, (this.#waitingOf.get(projectId) ?? 0) + 1)
  }

  #leave(projectId: ProjectId): void {
    this.#waiting -= 1
    const left = this.#waitingOf.get(projectId)! - 1
    if (left > 0) this.#waitingOf.set(projectId, left)
    else this.#waitingOf.delete(projectId)
    // Runs once for all outcomes that are written together.
    if (this.#blocked.length === 0 || this.#waking) return
    this.#waking = true
    setImmediate(() => this.#wake())
  }

  #wake(): void {
    this.#waking = false
    for (const resume of this.#blocked.splice(0)) resume()
  }
}

/** Only final states are published: until then a message is pending, whatever the name of its state. */
function changesOf(done: Settlement[]): OutcomeChange[] {
  return done.flatMap((one) => {
    if (one.due_at !== null) return []
    return [
      {
        triggerId: one.trigger_id,
        campaignId: one.campaign_id,
        variant: one.variant,
        language: one.language,
        step: one.step,
        messageId: one.message_id,
        deviceId: one.device_id,
        userId: one.user_id!,
        to: one.state,
        reason: one.reason,
        kind: 'state' as const
      }
    ]
  })
}

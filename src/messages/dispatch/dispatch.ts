import { type Carriers, channelOf, type FailureCode } from '../../channels/channels.ts'
import type { Outcome } from '../../gateways/gateways.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Recovery } from '../journal/recovery.ts'
import { isSettled, type MessageRow, type Recheck } from '../message.ts'
import type { Pauses } from '../pauses.ts'
import type { Settler, Settling } from '../settle.ts'
import { attemptOf } from './attempt.ts'
import { acceptedAs, settlementOf, stoppedAs } from './changes.ts'
import { Claims } from './claims.ts'
import { Following } from './following.ts'
import { locate } from './locate.ts'
import { batchSize, type DispatchOptions } from './options.ts'
import { type ByOwner, Owners } from './owners.ts'
import { Pending } from './pending.ts'
import { crashesForgiven, nextStep } from './retry-policy.ts'
import { soonest } from './soonest.ts'

export type { DispatchOptions } from './options.ts'
export type { ByOwner } from './owners.ts'

/** One call of `dispatch`. */
interface Run extends DispatchOptions {
  projectId: ProjectId
  /** Messages whose first response is awaited, and accepted ones that are being recorded. */
  pending: Pending
  /** The ends of all others. */
  ends: Promise<unknown>[]
}

interface Sent {
  response: Promise<Outcome>
}

export interface DispatcherOptions {
  pool: Pool
  /** The owner of all rows that this process dispatches. */
  nodeId: string
  carriers: Carriers
  settler: Settler
  /** Settles what dead nodes noted on this machine, before their rows are taken. */
  recovery?: Recovery | undefined
  pauses: Pauses
  recheck: Recheck
  log: Log
}

/** Dispatches messages through their carriers and settles them by the outcomes. Every way of sending uses it. */
export class Dispatcher {
  readonly claims: Claims
  readonly #pool: Pool
  readonly #nodeId: string
  readonly #carriers: Carriers
  readonly #settler: Settler
  readonly #owners: Owners
  readonly #pauses: Pauses
  readonly #recheck: Recheck
  readonly #log: Log
  readonly #following = new Following()
  /** Promises that `close` waits for. */
  #active = 0
  /** Messages without a response, by project. */
  readonly #submitted = new Map<ProjectId, number>()

  constructor({ pool, nodeId, carriers, settler, recovery, pauses, recheck, log }: DispatcherOptions) {
    this.claims = new Claims(pool, nodeId)
    this.#pool = pool
    this.#nodeId = nodeId
    this.#carriers = carriers
    this.#settler = settler
    this.#owners = new Owners({ pool, nodeId, recovery, following: this.#following })
    this.#pauses = pauses
    this.#recheck = recheck
    this.#log = log
  }

  /** Dispatches rows that are not settled. Returns those that another living process follows; it dispatches them. */
  async dispatch(projectId: ProjectId, rows: MessageRow[], options: DispatchOptions): Promise<MessageRow[]> {
    const run: Run = { ...options, projectId, pending: new Pending(), ends: [] }
    const open = rows.filter((row) => !isSettled(row))
    const [owned, located] = await this.#prepare(run, open)
    const lanes = Map.groupBy(located, ({ content, endpoint }) => channelOf(content).lane(endpoint!))
    const work = Promise.all([...lanes.values()].map((rows) => this.#guarded(run, this.#lane(run, rows))))
      .then(() => run.pending.none())
      .then(() => Promise.all(run.ends))
    const { followed, others } = owned
    const awaited = followed.length > 0 ? this.#guarded(run, this.#awaitEnds(run, followed)) : undefined
    await soonest(Promise.all([work, awaited]), options.deadline - steadyMs(), undefined)
    return others
  }

  async byOwner(projectId: ProjectId, rows: MessageRow[], deadOwner?: string, db?: Db): Promise<ByOwner> {
    return this.#owners.sort(projectId, rows, await this.#owners.living(rows, deadOwner, db), deadOwner)
  }

  /** Releases rows that no run will dispatch, because the response to their insert was lost and they may exist. */
  releaseUnsure(projectId: ProjectId, rows: MessageRow[]): void {
    this.#releaseUndispatched({ projectId, pending: new Pending(), ends: [], deadline: 0 }, rows)
  }

  /**
   * The keys of rows that runs of this process follow, also before dispatch: its clock may jump past the end of a
   * claim.
   */
  followedKeys(projectId: ProjectId): string[] {
    return this.#following.keysOf(projectId)
  }

  /** Settles rows of a paused project whose time to live is over. */
  expire(projectId: ProjectId, rows: MessageRow[]): Promise<unknown> {
    return Promise.all(rows.map((row) => this.#fail(projectId, row, 'EXPIRED')))
  }

  /** Resolves when all messages have ended, or at the deadline; outcomes that arrive later are dropped. */
  async close(deadlineMs: number): Promise<void> {
    const dropAt = steadyMs() + deadlineMs
    while (this.#active > 0 && steadyMs() < dropAt) await soonest(undefined, 20, undefined)
    this.claims.close()
    this.#settler.close()
  }

  /** Finds the owners of rows, takes the free ones for this run, and finds their endpoints. */
  async #prepare(run: Run, open: MessageRow[]): Promise<[ByOwner, MessageRow[]]> {
    const { projectId, deadOwner } = run
    let taken: MessageRow[] = []
    try {
      await this.#pauses.look(projectId)
      const alive = await this.#owners.living(open, deadOwner)
      // No await in between: another run of this process may want the same rows.
      const owned = this.#owners.sort(projectId, open, alive, deadOwner)
      taken = owned.free.filter((row) => this.#following.take(projectId, row))
      return [owned, await this.#locateAll(run, taken)]
    } catch (error) {
      const own = (row: MessageRow) => this.claims.isClaimed(row) && !this.#following.has(projectId, row)
      this.#releaseUndispatched(run, taken.length > 0 ? taken : open.filter(own))
      throw error
    }
  }

  /** Settles rows that their campaign must not send by now, or that have no endpoint any more, and returns the others. */
  async #locateAll(run: Run, rows: MessageRow[]): Promise<MessageRow[]> {
    const { projectId } = run
    // Rows that this run has just written have their endpoint, and their rules were checked in that transaction.
    const unlocated = rows.filter(({ endpoint }) => !endpoint)
    if (unlocated.length === 0) return rows
    const located = [...(await locate(this.#pool, projectId, unlocated))]
    // Where a device is now another user's, the message ends, whatever that user has chosen.
    const present = located.flatMap(([row, found]) => (typeof found === 'string' ? [] : row))
    const verdicts = present.length > 0 ? await this.#recheck(projectId, present) : undefined
    for (const [row, found] of located) {
      const verdict = verdicts?.get(row)
      if (verdict) this.#end(run, row, this.#settle(projectId, row, stoppedAs(row, verdict)))
      else if ((row.retries.crashed ?? 0) > crashesForgiven)
        this.#end(run, row, this.#fail(projectId, row, 'CONNECTION_LOST'))
      else if (typeof found === 'string') this.#end(run, row, this.#fail(projectId, row, found))
      else row.endpoint = found
    }
    return rows.filter(({ endpoint }) => endpoint)
  }

  /** Dispatches the rows of one lane, in order: a lane without room does not keep the others waiting. */
  async #lane(run: Run, rows: MessageRow[]): Promise<void> {
    const left = new Set(rows)
    try {
      for (let from = 0; from < rows.length; from += batchSize) {
        const batch = rows.slice(from, from + batchSize)
        if (this.#isOver(run)) await this.#releaseBatch(run, batch, left)
        else await this.#dispatchBatch(run, batch, left)
      }
    } catch (error) {
      this.#releaseUndispatched(run, [...left])
      throw error
    }
  }

  /** There may be many such rows, so they too wait until the database keeps up. */
  async #releaseBatch(run: Run, batch: MessageRow[], left: Set<MessageRow>): Promise<void> {
    await this.#room(run.projectId)
    for (const row of batch) {
      left.delete(row)
      this.#end(run, row, this.#release(run.projectId, row))
    }
  }

  /** Takes out of `left` the rows that are dispatched, released or lost. */
  async #dispatchBatch(run: Run, batch: MessageRow[], left: Set<MessageRow>): Promise<void> {
    const { projectId } = run
    const { claims } = this
    for (const [index, row] of batch.entries()) {
      const full = this.#room(projectId)
      if (full !== undefined) await full
      // Runs for the first row, and again if a slow gateway lets the claim on the rest run out.
      if (!claims.isLost(row) && !claims.isClaimed(row)) await claims.claim(projectId, batch.slice(index))
      const expired = row.not_after.getTime() < Date.now()
      const ended = claims.isLost(row) || expired
      if (!ended && this.#submitAtOnce(run, row)) {
        left.delete(row)
        continue
      }
      const sent = ended ? undefined : await this.#submit(run, row)
      left.delete(row)
      if (claims.isLost(row)) {
        this.#following.drop(projectId, row)
        continue
      }
      this.#end(run, row, expired ? this.#fail(projectId, row, 'EXPIRED') : this.#follow(run, row, sent))
    }
  }

  /** False if there is no room. The usual case: no promise is made if the gateway accepts the message. */
  #submitAtOnce(run: Run, row: MessageRow): boolean {
    if (this.#isOver(run)) return false
    const { projectId } = run
    const responded = (outcome: Outcome) => {
      this.#countSubmitted(projectId, -1)
      if (outcome.kind === 'accepted') return this.#accepted(run, row, outcome)
      this.#end(run, row, this.#follow(run, row, { response: Promise.resolve(outcome) }))
      this.#leave(run)
    }
    this.#active += 1
    run.pending.add()
    this.#countSubmitted(projectId, 1)
    try {
      if (attemptOf(run, row, this.#carriers).submit(responded)) return true
    } catch (error) {
      responded(this.#handOverFailed(projectId, error))
      return true
    }
    this.#countSubmitted(projectId, -1)
    this.#leave(run)
    return false
  }

  #leave(run: Run): void {
    this.#active -= 1
    run.pending.remove()
  }

  #handOverFailed(projectId: ProjectId, error: unknown): Outcome {
    this.#log.error({ error, projectId }, 'a push could not be handed over')
    return { kind: 'rejected', reason: 'INTERNAL_ERROR', message: 'A fault of the service.', gatewayCode: '' }
  }

  #accepted(run: Run, row: MessageRow, outcome: Outcome & { kind: 'accepted' }): void {
    const { projectId } = run
    const changes = acceptedAs(row, outcome)
    const end = { message: row, endpoint: row.endpoint!, outcome }
    const settling = { settlement: settlementOf(row, changes), end }
    const isLast = run.urgent === true && !this.#submitted.has(projectId)
    this.#settler.accepted(projectId, settling, isLast, (recorded) => {
      if (recorded) Object.assign(row, changes, { owner: null })
      this.#following.drop(projectId, row)
      this.#leave(run)
    })
  }

  /** Waits for room at the carrier. Undefined if there was none in time, or the row is no longer claimed. */
  async #submit(run: Run, row: MessageRow): Promise<Sent | undefined> {
    const { projectId } = run
    const attempt = attemptOf(run, row, this.#carriers)
    const { promise: response, resolve } = Promise.withResolvers<Outcome>()
    const responded = (outcome: Outcome) => {
      this.#countSubmitted(projectId, -1)
      resolve(outcome)
    }
    while (!this.#isOver(run)) {
      this.#countSubmitted(projectId, 1)
      try {
        if (attempt.submit(responded)) return { response }
        this.#countSubmitted(projectId, -1)
      } catch (error) {
        responded(this.#handOverFailed(projectId, error))
        return { response }
      }
      await soonest(attempt.ready(), Math.min(run.deadline - steadyMs(), 5_000), run.signal)
      // Yields to the event loop each time: a gate that opens and closes again must not block the process.
      await new Promise((resolve) => setImmediate(resolve))
      if ((await this.claims.claim(projectId, [row])).length === 0) return undefined
    }
    return undefined
  }

  /** Runs after the first response: this process makes short retries itself, and the retry job makes all others. */
  async #follow(run: Run, row: MessageRow, first: Sent | undefined): Promise<void> {
    const { projectId } = run
    let sent = first
    for (;;) {
      if (!sent) return this.claims.isLost(row) ? undefined : this.#release(projectId, row)
      const outcome = await sent.response
      const now = Date.now()
      const attempts = row.attempts + (outcome.kind === 'retry' && outcome.free ? 0 : 1)
      const next = nextStep(outcome, { retries: row.retries, notAfter: row.not_after.getTime() }, now)
      const end = { message: row, endpoint: row.endpoint!, outcome }
      if (next.kind === 'accepted') return this.#settleAccepted(projectId, row, acceptedAs(row, next), end)
      const said = { reason: next.reason, reason_message: next.message ?? null, gateway_code: next.gatewayCode }
      if (next.kind === 'failed')
        return this.#settle(projectId, row, { ...said, state: 'failed', due_at: null, attempts }, end)
      const { retries } = next
      if (steadyMs() + next.at - now < run.deadline && !run.signal?.aborted) {
        Object.assign(row, { ...said, attempts, retries })
        await soonest(undefined, next.at - now, run.signal)
        if ((await this.claims.claim(projectId, [row])).length === 0) return
        sent = await this.#submit(run, row)
        continue
      }
      const state = next.lost ? ('unknown' as const) : ('queued' as const)
      return this.#settle(projectId, row, { ...said, state, due_at: new Date(next.at), attempts, retries })
    }
  }

  /** Writes the changes that follow from the claimed row; the object in memory gets them once they are written. */
  async #settle(projectId: ProjectId, row: MessageRow, changes: Partial<MessageRow>, end?: Settling['end']) {
    const settling = { settlement: settlementOf(row, changes), end }
    if (await this.#settler.settle(projectId, settling)) Object.assign(row, changes, { owner: null })
  }

  /** Goes with the outcomes of messages that there was room for at once. */
  async #settleAccepted(projectId: ProjectId, row: MessageRow, changes: Partial<MessageRow>, end: Settling['end']) {
    const settling = { settlement: settlementOf(row, changes), end }
    const recorded = await new Promise<boolean>((done) => this.#settler.accepted(projectId, settling, false, done))
    if (recorded) Object.assign(row, changes, { owner: null })
  }

  #fail(projectId: ProjectId, row: MessageRow, reason: FailureCode): Promise<void> {
    const failed = { state: 'failed' as const, due_at: null, reason, reason_message: null, gateway_code: null }
    return this.#settle(projectId, row, failed)
  }

  /** Leaves the row without an owner: the retry job takes it at once. */
  #release(projectId: ProjectId, row: MessageRow): Promise<void> {
    const state = row.state === 'unknown' ? ('unknown' as const) : ('queued' as const)
    return this.#settle(projectId, row, { state, due_at: new Date() })
  }

  /**
   * Releases rows that a run owns and cannot dispatch; otherwise this process would own them for as long as it lives.
   */
  #releaseUndispatched(run: Run, rows: MessageRow[]): void {
    const { projectId } = run
    for (const row of rows)
      if (isSettled(row) || this.claims.isLost(row) || row.owner !== this.#nodeId) this.#following.drop(projectId, row)
      else if (this.#following.take(projectId, row)) this.#end(run, row, this.#release(projectId, row))
  }

  #end(run: Run, row: MessageRow, ended: Promise<unknown>): void {
    const { projectId } = run
    // A run that failed before it dispatched the row still owns it. The release lets another process claim it.
    const settled = ended.catch((error: unknown) => {
      this.#log.error({ error, projectId }, 'a push could not be followed to its end')
      return this.#release(projectId, row)
    })
    run.ends.push(this.#guarded(run, settled).finally(() => this.#following.drop(projectId, row)))
  }

  /** Rows that another run of this process follows are not dispatched again; they are read once they are settled. */
  async #awaitEnds({ projectId }: Run, rows: MessageRow[]): Promise<void> {
    await Promise.all(rows.map((row) => this.#following.ended(projectId, row)))
    await this.claims.readAgain(projectId, rows)
  }

  /** The retry job finds a row that could not be followed: one failure must not end the run of the others. */
  #guarded({ projectId }: Run, work: Promise<unknown>): Promise<unknown> {
    this.#active += 1
    return work
      .catch((error: unknown) => this.#log.error({ error, projectId }, 'a push could not be followed to its end'))
      .finally(() => {
        this.#active -= 1
      })
  }

  #countSubmitted(projectId: ProjectId, by: number): void {
    const count = (this.#submitted.get(projectId) ?? 0) + by
    if (count > 0) this.#submitted.set(projectId, count)
    else this.#submitted.delete(projectId)
  }

  /** Undefined while the database keeps up; otherwise resolves when it does. */
  #room(projectId: ProjectId): Promise<void> | undefined {
    return this.#settler.room(projectId, () => this.#submitted.get(projectId) ?? 0)
  }

  /** A paused project gets no more turns: its rows are released, and the retry job takes them after the resume. */
  #isOver({ deadline, signal, projectId }: Run): boolean {
    return steadyMs() >= deadline || signal?.aborted === true || this.#pauses.isPaused(projectId)
  }
}

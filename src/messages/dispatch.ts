import type { FailureCode, Outcome, Sender } from '../gateways/gateways.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { livingNodes } from '../platform/nodes.ts'
import { steadyMs } from '../platform/time.ts'
import { createHolds } from './claims.ts'
import { createFollowing } from './following.ts'
import { isSettled, type MessageRow } from './message.ts'
import type { Pauses } from './pauses.ts'
import { crashesForgiven, nextStep } from './retry-policy.ts'
import { deadTokenOf, endedActivityOf, pushOf } from './row-push.ts'
import type { Recorder, Recording } from './settle.ts'
import { locate } from './targets.ts'

export interface HandOverOptions {
  /** By the steady clock. Until then it is waited for answers and short retries; what is left goes on by itself, durably. */
  untilMs: number
  signal?: AbortSignal | undefined
  /** A caller waits for the outcomes: these go before the pushes of campaigns. */
  urgent?: boolean
  /** An owner of rows that is known to be gone, though the list of nodes may not tell so yet. */
  gone?: string | undefined
}

/** Open rows, by the process that has them. */
export interface Sorted {
  /** Followed by this process. */
  followed: MessageRow[]
  /** Owned by another one that lives, or may: it follows them, and no other process touches them. */
  others: MessageRow[]
  /** Owned by no process, by a dead one, or by this one, which lost them. */
  free: MessageRow[]
}

/** Rows that one statement marks as handed. */
const batchSize = 500

interface Run extends HandOverOptions {
  projectId: ProjectId
  ends: Promise<unknown>[]
}

/** Hands rows to the gateways and writes down what comes of it. The one engine behind every way to send. */
export function createHandOver({
  pool,
  nodeId,
  sender,
  recorder,
  pauses,
  log
}: {
  pool: Pool
  /** The owner of all that this process dispatches. */
  nodeId: string
  sender: Sender
  recorder: Recorder
  pauses: Pauses
  log: Log
}) {
  const holds = createHolds(pool, nodeId)
  const { hold, isHeld, isGone, readAgain } = holds
  let inHands = 0
  const following = createFollowing()
  /** Handed over and not answered, by project. */
  const onTheWay = new Map<ProjectId, number>()
  const change = (projectId: ProjectId, by: number) => {
    const count = (onTheWay.get(projectId) ?? 0) + by
    if (count > 0) onTheWay.set(projectId, count)
    else onTheWay.delete(projectId)
  }

  /** Nothing while the database keeps up; else resolves when it does. */
  const room = (projectId: ProjectId) => recorder.room(projectId, () => onTheWay.get(projectId) ?? 0)

  /** A paused project gets no more turns: its rows are released, and the retry job takes them after the resume. */
  const over = ({ untilMs, signal, projectId }: Run) =>
    steadyMs() >= untilMs || signal?.aborted === true || pauses.isPaused(projectId)

  async function record(
    projectId: ProjectId,
    row: MessageRow,
    changes: Partial<MessageRow>,
    more?: Partial<Recording>
  ) {
    const { trigger_id, device_id, message_id, campaign_id, user_id, state, due_at } = row
    const { attempts, retries, gateway_message_id, reason, reason_message, gateway_code } = row
    const ids = { trigger_id, device_id, message_id, campaign_id, user_id }
    const before = { state, due_at, attempts, retries, gateway_message_id, reason, reason_message, gateway_code }
    const held = { owner: row.owner, due_at }
    const recorded = await recorder.record(projectId, { settlement: { ...ids, ...before, ...changes, held }, ...more })
    if (recorded) Object.assign(row, changes, { owner: null })
  }

  const fail = (projectId: ProjectId, row: MessageRow, reason: FailureCode) =>
    record(projectId, row, { state: 'failed', due_at: null, reason, reason_message: null, gateway_code: null })

  /** Nobody's any more: the retry job takes it at once. */
  const release = ({ projectId }: Run, row: MessageRow) =>
    record(projectId, row, { state: row.state === 'unknown' ? 'unknown' : 'queued', due_at: new Date() })

  /** Waits for room at the gateway. Nothing where there was none in time, or the row is no longer ours. */
  async function submit(run: Run, row: MessageRow): Promise<{ answer: Promise<Outcome> } | undefined> {
    const push = pushOf(run.projectId, row, run.urgent)
    const { promise: answer, resolve } = Promise.withResolvers<Outcome>()
    const answered = (outcome: Outcome) => {
      change(run.projectId, -1)
      resolve(outcome)
    }
    while (!over(run)) {
      change(run.projectId, 1)
      try {
        if (sender.submit(push, answered)) return { answer }
        change(run.projectId, -1)
      } catch (error) {
        log.error({ error, projectId: run.projectId }, 'a push could not be handed over')
        answered({ kind: 'rejected', reason: 'INTERNAL_ERROR', message: 'A fault of the service.', gatewayCode: '' })
        return { answer }
      }
      await soonest(sender.ready(push), Math.min(run.untilMs - steadyMs(), 5_000), run.signal)
      // Never without a turn of the event loop: a gate that opens and shuts again must not stop the process.
      await new Promise((resolve) => setImmediate(resolve))
      if ((await hold(run.projectId, [row])).length === 0) return undefined
    }
    return undefined
  }

  /** From the first answer on: retries that are short go on here, all others are left to their job. */
  async function follow(run: Run, row: MessageRow, first: { answer: Promise<Outcome> } | undefined): Promise<void> {
    const { projectId } = run
    let sent = first
    for (;;) {
      if (!sent) return isGone(row) ? undefined : release(run, row)
      const outcome = await sent.answer
      const now = Date.now()
      const attempts = row.attempts + (outcome.kind === 'retry' && outcome.free ? 0 : 1)
      const next = nextStep(outcome, { retries: row.retries, notAfter: row.not_after.getTime() }, now)
      if (next.kind === 'accepted') {
        const { gatewayMessageId } = next
        const none = { reason: null, reason_message: null, gateway_code: null }
        const accepted = { state: 'accepted' as const, due_at: null, attempts, gateway_message_id: gatewayMessageId }
        return record(projectId, row, { ...none, ...accepted }, { endedActivity: endedActivityOf(row) })
      }
      const said = { reason: next.reason, reason_message: next.message ?? null, gateway_code: next.gatewayCode }
      if (next.kind === 'failed') {
        const changes = { ...said, state: 'failed' as const, due_at: null, attempts }
        return record(projectId, row, changes, { deadToken: deadTokenOf(row, outcome) })
      }
      const { retries } = next
      if (steadyMs() + next.at - now < run.untilMs && !run.signal?.aborted) {
        Object.assign(row, { ...said, attempts, retries })
        await soonest(undefined, next.at - now, run.signal)
        if ((await hold(projectId, [row])).length === 0) return
        sent = await submit(run, row)
        continue
      }
      const state = next.lost ? ('unknown' as const) : ('queued' as const)
      return record(projectId, row, { ...said, state, due_at: new Date(next.at), attempts, retries })
    }
  }

  /** Rows of one gateway, in order: where it has no room the others are not kept waiting. */
  async function lane(run: Run, rows: MessageRow[]): Promise<void> {
    const left = new Set(rows)
    try {
      await dispatch(run, rows, left)
    } catch (error) {
      giveUp(run, [...left])
      throw error
    }
  }

  /** Takes out of `left` what is dispatched, released or gone. */
  async function dispatch(run: Run, rows: MessageRow[], left: Set<MessageRow>): Promise<void> {
    for (let from = 0; from < rows.length; from += batchSize) {
      const batch = rows.slice(from, from + batchSize)
      if (over(run)) {
        // There may be many: they too wait until the database keeps up. Whatever ends meanwhile is found by its time.
        await room(run.projectId)
        for (const row of batch) {
          left.delete(row)
          end(run, row, release(run, row))
        }
        continue
      }
      for (const [index, row] of batch.entries()) {
        const full = room(run.projectId)
        if (full) await full
        // For the first, and again when the gateway is so slow that the hold on the rest runs out.
        if (!isGone(row) && !isHeld(row)) await hold(run.projectId, batch.slice(index))
        const expired = row.not_after.getTime() < Date.now()
        const sent = isGone(row) || expired ? undefined : await submit(run, row)
        left.delete(row)
        if (isGone(row)) {
          following.drop(run.projectId, row)
          continue
        }
        end(run, row, expired ? fail(run.projectId, row, 'EXPIRED') : follow(run, row, sent))
      }
    }
  }

  function end(run: Run, row: MessageRow, ended: Promise<unknown>): void {
    const { projectId } = run
    // A run that failed before it dispatched the row has it still: it is given up, so that another process may take it.
    const settled = ended.catch((error: unknown) => {
      log.error({ error, projectId }, 'a push could not be followed to its end')
      return release(run, row)
    })
    run.ends.push(guarded(run, settled).finally(() => following.drop(projectId, row)))
  }

  /** What a run owns and cannot dispatch: without this it would be its own for as long as this process lives. */
  function giveUp(run: Run, rows: MessageRow[]): void {
    for (const row of rows)
      if (isSettled(row) || isGone(row) || row.owner !== nodeId) following.drop(run.projectId, row)
      else if (following.take(run.projectId, row)) end(run, row, release(run, row))
  }

  /** The nodes that may be alive. Read only where another process owns some of the rows. */
  const isOthers = ({ owner }: MessageRow, gone?: string) => owner !== null && owner !== nodeId && owner !== gone
  const living = async (rows: MessageRow[], gone: string | undefined, db: Db) =>
    rows.some((row) => isOthers(row, gone)) ? livingNodes(db, nodeId) : new Set<string>()

  /** Who has these rows. */
  function place(projectId: ProjectId, rows: MessageRow[], alive: Set<string>, gone?: string): Sorted {
    const placeOf = (row: MessageRow): keyof Sorted => {
      if (following.has(projectId, row)) return 'followed'
      return isOthers(row, gone) && alive.has(row.owner!) ? 'others' : 'free'
    }
    const by = Map.groupBy(rows, placeOf)
    return { followed: by.get('followed') ?? [], others: by.get('others') ?? [], free: by.get('free') ?? [] }
  }

  const sort = async (projectId: ProjectId, rows: MessageRow[], gone?: string, db: Db = pool): Promise<Sorted> =>
    place(projectId, rows, await living(rows, gone, db), gone)

  /** Their outcomes may wait for the database: they are not dispatched again, and read once they have ended. */
  async function attendTo({ projectId }: Run, rows: MessageRow[]): Promise<void> {
    await Promise.all(rows.map((row) => following.ended(projectId, row)))
    await readAgain(projectId, rows)
  }

  /** A row that could not be followed is found by the sweeper: the others must not suffer. */
  function guarded({ projectId }: Run, end: Promise<unknown>): Promise<unknown> {
    inHands += 1
    return end
      .catch((error: unknown) => log.error({ error, projectId }, 'a push could not be followed to its end'))
      .finally(() => {
        inHands -= 1
      })
  }

  /** What has no place to go to ends here. */
  async function locateAll(run: Run, rows: MessageRow[]): Promise<MessageRow[]> {
    const unlocated = rows.filter(({ target }) => !target)
    if (unlocated.length === 0) return rows
    for (const [row, found] of await locate(pool, run.projectId, unlocated)) {
      if ((row.retries.crashed ?? 0) > crashesForgiven) end(run, row, fail(run.projectId, row, 'CONNECTION_LOST'))
      else if (typeof found === 'string') end(run, row, fail(run.projectId, row, found))
      else row.target = found
    }
    return rows.filter(({ target }) => target)
  }

  /** Sorts the rows, takes those that are free for this run, and finds where they go. */
  async function prepare(run: Run, open: MessageRow[]): Promise<[Sorted, MessageRow[]]> {
    const { projectId, gone } = run
    let taken: MessageRow[] = []
    try {
      await pauses.look(projectId)
      const alive = await living(open, gone, pool)
      // Without an await in between: another run of this process may want the same rows.
      const sorted = place(projectId, open, alive, gone)
      taken = sorted.free.filter((row) => following.take(projectId, row))
      return [sorted, await locateAll(run, taken)]
    } catch (error) {
      giveUp(run, taken.length > 0 ? taken : open.filter((row) => isHeld(row) && !following.has(projectId, row)))
      throw error
    }
  }

  return {
    markHeld: holds.markHeld,
    attend: holds.attend,
    sort,
    /** Rows that may have been written, though the answer to that was lost: no run will dispatch them. */
    giveUp: (projectId: ProjectId, rows: MessageRow[]): void => giveUp({ projectId, ends: [], untilMs: 0 }, rows),
    /** The keys of what runs of this process have, also before it is dispatched: its clock may jump past the end of a hold. */
    followedOf: following.keysOf,
    /** Returns the rows that another living process follows, and that were left to it. */
    async handOver(projectId: ProjectId, rows: MessageRow[], options: HandOverOptions): Promise<MessageRow[]> {
      const run: Run = { ...options, projectId, ends: [] }
      const open = rows.filter((row) => !isSettled(row))
      const [sorted, located] = await prepare(run, open)
      const lanes = Map.groupBy(located, ({ target }) => `${target!.gateway} ${target!.environment} ${target!.app}`)
      const work = Promise.all([...lanes.values()].map((rows) => guarded(run, lane(run, rows)))).then(() =>
        Promise.all(run.ends)
      )
      const attended = sorted.followed.length > 0 ? guarded(run, attendTo(run, sorted.followed)) : undefined
      await soonest(Promise.all([work, attended]), options.untilMs - steadyMs(), undefined)
      return sorted.others
    },
    /** For rows of a paused project whose time to live is over. */
    expire: (projectId: ProjectId, rows: MessageRow[]): Promise<unknown> =>
      Promise.all(rows.map((row) => fail(projectId, row, 'EXPIRED'))),
    /** Resolves when nothing is under way any more, or at the deadline; then what is left is dropped. */
    async close(deadlineMs: number): Promise<void> {
      const giveUpAt = steadyMs() + deadlineMs
      while (inHands > 0 && steadyMs() < giveUpAt) await soonest(undefined, 20, undefined)
      holds.close()
      recorder.close()
    }
  }
}

/** Resolves with the promise, after the time, or when the signal says stop: whichever comes first. */
async function soonest(promise: Promise<unknown> | undefined, ms: number, signal: AbortSignal | undefined) {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.max(0, ms))
  const stop = () => resolve()
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) resolve()
  try {
    await Promise.race(promise === undefined ? [stopped] : [promise, stopped])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

import { createHash } from 'node:crypto'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, type JobDefinition, RetryLater } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { sealedColumn } from '../platform/secrets/sealed.ts'
import { open, seal } from '../platform/secrets/secrets.ts'
import { steadyMs } from '../platform/time.ts'
import * as store from './call-store.ts'
import type { Answer, Attempted, Caller } from './caller.ts'
import type { Circuits } from './circuit.ts'
import { givenUpAfterMs, waitAfter } from './schedule.ts'
import { projectOwner, type Secrets } from './secrets.ts'
import { signatureOf } from './signing.ts'

/** A call to make. Its body is sent unchanged, and signed. */
export interface OutgoingCall {
  /** A UUIDv7. Receivers get it as webhook-id, the same for every attempt. */
  id: string
  url: string
  headers: Record<string, string>
  body: string
  /** Calls of one order key go out one after the other, in the order in which they were enqueued. */
  order: string | null
  source: { kind: 'task' | 'outcome'; id: string }
}

export type Result = 'delivered' | 'retried' | 'failed'

type Sendable = Pick<store.HeadRow, 'id' | 'source_kind' | 'source_id' | 'url' | 'headers' | 'body'>

interface Lane {
  projectId: ProjectId
  lane: string
}

/** Calls have their own queue, because they mostly wait for receivers: slow receivers delay only each other. */
export const callQueue = 'calls'
/** The most calls of one run, so that projects take turns. */
const callsPerRun = 50
const runMs = 5_000
/** Longer than the limit of a call. */
const onceMs = 30_000
/** The status by which receivers say that they want no more calls. */
const gone = 410

const contextOf = (projectId: string, id: string) => `webhook_call:${projectId}:${id}`

sealedColumn({
  table: 'webhook_calls',
  column: 'headers',
  by: ['project_id', 'id'],
  context: ({ project_id, id }) => contextOf(project_id!, id!)
})
const hasHeaders = (headers: Record<string, string>) => Object.keys(headers).length > 0

export function createDelivery(options: {
  pool: Pool
  key: Buffer
  caller: Caller
  circuits: Circuits
  secrets: Secrets
  /** Whether the project may call receivers on this machine now. */
  mayBeLocal: (projectId: ProjectId) => Promise<boolean>
  count: (result: Result) => void
}) {
  const { pool, key, caller, circuits, secrets, mayBeLocal, count } = options

  /** The job of a lane: makes its calls in order, and reschedules itself for the next retry. */
  const job: JobDefinition<Lane> = defineJob<Lane>({
    name: 'webhooks.deliver',
    queue: callQueue,
    // The calls themselves decide when to stop. The job uses an attempt only if the database could not be reached.
    maxAttempts: Number.POSITIVE_INFINITY,
    backoff: () => 5_000,
    async run({ projectId, lane }, { signal }) {
      const endsAt = steadyMs() + runMs
      for (let made = 0; ; made += 1) {
        const call = await store.headOf(pool, projectId, lane)
        if (!call) return
        if (made >= callsPerRun || steadyMs() > endsAt) throw later('others take their turn', 0)
        if (call.next_at.getTime() > Date.now()) throw later('waits', call.next_at.getTime() - Date.now())
        await make(projectId, call, signal)
      }
    }
  })

  async function make(projectId: ProjectId, call: store.HeadRow, signal: AbortSignal): Promise<void> {
    const turn = circuits.enter(projectId, originOf(call.url))
    if (!turn.go) {
      // The call has reached its end: a pause of its destination does not prolong it.
      if (turn.resting && call.expires_at.getTime() <= Date.now())
        return settle(projectId, call, { error: 'the destination kept failing' }, call.attempts)
      throw later('the destination is busy or rests', turn.waitMs)
    }
    let answer: Answer | Attempted | undefined
    try {
      answer = await send(projectId, call, signal)
    } finally {
      turn.end(signal.aborted && answer?.error !== undefined ? undefined : answer && answer.error === undefined)
    }
    // An interrupted attempt is no failure: the next run of the job decides. A success still counts.
    if (answer.error !== undefined) signal.throwIfAborted()
    await settle(projectId, call, answer, call.attempts + 1)
  }

  async function send(projectId: ProjectId, call: Sendable, signal: AbortSignal): Promise<Answer | Attempted> {
    const own = call.source_kind === 'outcome' ? await secrets.current(pool, projectId, call.source_id) : []
    const signing = own.length > 0 ? own : await secrets.ensure(pool, projectId, projectOwner)
    const headers = headersOf(projectId, call)
    // A row that was tampered with must not block its lane for ever.
    if (!headers) return { error: 'the headers of the call cannot be opened with the master key' }
    const signature = signatureOf(signing, call.id, call.body)
    return caller.call({
      url: call.url,
      headers,
      signature,
      body: call.body,
      signal,
      mayBeLocal: await mayBeLocal(projectId)
    })
  }

  function headersOf(projectId: ProjectId, { id, headers }: Sendable): Record<string, string> | undefined {
    try {
      return headers === null ? {} : JSON.parse(open(key, contextOf(projectId, id), headers))
    } catch {
      return undefined
    }
  }

  async function settle(
    projectId: ProjectId,
    call: store.HeadRow,
    answer: Answer | Attempted,
    attempts: number
  ): Promise<void> {
    const attempt = attemptOf(answer, attempts)
    if (answer.error === undefined) {
      await store.settleCall(pool, projectId, call.id, 'delivered', attempt)
      return count('delivered')
    }
    const nextAt = Date.now() + Math.max(waitAfter(Math.max(attempts, 1)), answer.retryAfterMs ?? 0)
    if (nextAt > call.expires_at.getTime() || answer.status === gone) {
      await store.settleCall(pool, projectId, call.id, 'failed', attempt)
      return count('failed')
    }
    await store.postponeCall(pool, projectId, call.id, attempt, new Date(nextAt))
    count('retried')
  }

  const wake = (db: Db, projectId: ProjectId, lane: string) =>
    add(db, job, { projectId, lane }, { projectId, key: `${projectId}/${keyOf(lane)}` })

  return {
    job,
    wake,
    /** Runs in the caller's transaction: the call is made only if that commits. */
    async enqueue(tx: Db, projectId: ProjectId, call: OutgoingCall): Promise<void> {
      const at = new Date()
      const lane = call.order ?? call.id
      const stored = await store.insertCall(tx, projectId, {
        id: call.id,
        lane,
        sourceKind: call.source.kind,
        sourceId: call.source.id,
        url: call.url,
        headers: hasHeaders(call.headers)
          ? seal(key, contextOf(projectId, call.id), JSON.stringify(call.headers))
          : null,
        body: call.body,
        at,
        expiresAt: new Date(at.getTime() + givenUpAfterMs)
      })
      if (stored) await wake(tx, projectId, lane)
    },
    /**
     * Makes a call once, now, whatever waits for its destination, and stores how it ended. If this node dies meanwhile,
     * maintenance finds the call and makes it after all.
     */
    async callOnce(projectId: ProjectId, call: OutgoingCall, also: (tx: Db) => Promise<unknown>): Promise<void> {
      const at = new Date()
      const row = {
        ...{ id: call.id, lane: call.id, url: call.url, headers: null, body: call.body, at, expiresAt: at },
        ...{ sourceKind: call.source.kind, sourceId: call.source.id }
      }
      await pool.transaction(async (tx) => {
        await store.insertCall(tx, projectId, row)
        await also(tx)
      })
      const sendable = { ...row, source_kind: row.sourceKind, source_id: row.sourceId }
      const answer = await send(projectId, sendable, AbortSignal.timeout(onceMs))
      const state = answer.error === undefined ? 'delivered' : 'failed'
      await store.settleCall(pool, projectId, call.id, state, attemptOf(answer, 1))
      count(state)
    },
    /** Starts failed calls again, at most `limit`, and returns their number. */
    replayFailed: (projectId: ProjectId, which: store.FailedCalls, also: (tx: Db, count: number) => Promise<unknown>) =>
      pool.transaction(async (tx) => {
        const at = new Date()
        const expiresAt = new Date(at.getTime() + givenUpAfterMs)
        const lanes = await store.replayFailedCalls(tx, projectId, which, at, expiresAt)
        for (const lane of new Set(lanes)) await wake(tx, projectId, lane)
        if (lanes.length > 0) await also(tx, lanes.length)
        return lanes.length
      }),
    /** Undefined if the call does not exist. */
    replay: (projectId: ProjectId, id: string, also: (tx: Db) => Promise<unknown>) =>
      pool.transaction(async (tx) => {
        const at = new Date()
        const row = await store.replayCall(tx, projectId, id, at, new Date(at.getTime() + givenUpAfterMs))
        if (!row) return undefined
        await wake(tx, projectId, row.lane)
        await also(tx)
        return row
      })
  }
}

/** What is stored of a call's attempt. */
const attemptOf = (answer: Answer | Attempted, attempts: number): store.Attempt => ({
  attempts,
  status: answer.status ?? null,
  error: answer.error ?? null,
  made:
    'at' in answer
      ? { at: answer.at, duration_ms: answer.durationMs, headers: answer.headers, response: answer.body ?? null }
      : undefined
})

/** Not an attempt of the job: the calls count their own. */
const later = (reason: string, afterMs: number) => new RetryLater(reason, afterMs, { anew: true })

/** Order keys may have any length, so the job gets the hash of a long one as its key. */
const keyOf = (lane: string) => (lane.length <= 64 ? lane : createHash('sha256').update(lane).digest('base64url'))

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : '')

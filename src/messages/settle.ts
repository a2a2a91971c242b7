import { setTimeout as sleep } from 'node:timers/promises'
import { reach } from '../devices/devices.ts'
import { createCoalescer } from '../platform/coalesce.ts'
import { type Db, isPassing, type Pool, type Transaction } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { OutcomeChange } from './message.ts'
import { keyOf, type Settlement, settleMessages } from './store.ts'

/** In the transaction that records: what others keep about messages changes with them. */
export type OnOutcomes = (tx: Db, projectId: ProjectId, changes: OutcomeChange[]) => Promise<void>

export interface Recording {
  settlement: Settlement
  deadToken?: (reach.DeadToken & { isActivity: boolean }) | undefined
  /** Set where a gateway accepted the end of a Live Activity. */
  endedActivity?: reach.EndedActivity | undefined
}

export type Recorder = ReturnType<typeof createRecorder>

/** After a failure; the last one again and again, for as long as the database is away. */
const waitsMs = [100, 200, 500, 1_000]
/** An outcome that a database which works refuses this often is dropped: waiting does not mend that. */
const refusalsForgiven = 5
/** Of many outcomes the next ones are waited for: a transaction costs as much for ten as for fifty. */
const gatherMs = 20
/**
 * What a killed process has handed over and not recorded is sent once more. So while the database does not keep up,
 * which it does as long as few outcomes wait for it, no more than this of a project is with the gateways or waiting. While
 * it is away nothing more is handed over: the outcomes that wait are of what was with the gateways when it went.
 */
const mostUnrecorded = 800
const fewWaiting = 200
/** Of all projects together, so that they do not fill the memory. */
const mostWaiting = 4_000

/** Writes outcomes down, those that come together in one transaction. */
export function createRecorder({
  pool,
  log,
  metrics,
  onOutcomes,
  scheduleRetry
}: {
  pool: Pool
  log: Log
  metrics: Metrics
  onOutcomes: OnOutcomes
  scheduleRetry: (tx: Db, projectId: ProjectId, at: Date) => Promise<void>
}) {
  let waiting = 0
  const waitingOf = new Map<ProjectId, number>()
  const blocked: (() => void)[] = []
  let waking = false
  /** Whether the last write found the database away. */
  let away = false
  let closed = false
  const ends = new Map<string, { labels: { state: string; reason: string }; value: number }>()
  metrics.counter('tidings_messages_total', 'Messages that came to an end, by device.', () => [...ends.values()])

  function count({ to: state, reason }: OutcomeChange): void {
    const labels = { state, reason: reason ?? '' }
    const known = ends.get(`${state} ${reason}`)
    if (known) known.value += 1
    else ends.set(`${state} ${reason}`, { labels, value: 1 })
  }

  const writes = createCoalescer<Recording, void>(
    async (projectId, batch) => {
      metrics.coalesced('outcomes', batch.length)
      const changes = await againIfRaced(() => pool.transaction((tx) => recordTogether(tx, projectId, batch)))
      changes.forEach(count)
      return []
    },
    undefined,
    gatherMs
  )

  async function recordTogether(tx: Transaction, projectId: ProjectId, batch: Recording[]): Promise<OutcomeChange[]> {
    const settlements = batch.map(({ settlement }) => settlement)
    const done = await settleMessages(tx, projectId, settlements, new Date())
    const changes = changesOf(done)
    if (changes.length > 0) await onOutcomes(tx, projectId, changes)
    const dead = batch.flatMap(({ deadToken }) => deadToken ?? [])
    const [ofPush, ofActivities] = [dead.filter((one) => !one.isActivity), dead.filter((one) => one.isActivity)]
    if (ofPush.length > 0) await reach.buryTokens(tx, projectId, ofPush)
    if (ofActivities.length > 0) await reach.buryActivities(tx, projectId, ofActivities)
    const ended = batch.flatMap(({ endedActivity }) => endedActivity ?? [])
    if (ended.length > 0) await reach.endActivities(tx, projectId, ended, new Date())
    const planned = settlements.flatMap(({ due_at }) => due_at?.getTime() ?? [])
    if (planned.length > 0) await scheduleRetry(tx, projectId, new Date(Math.min(...planned)))
    return changes
  }

  /** A fault in what is told must not make a push that was accepted go out again. */
  async function recordAlone(projectId: ProjectId, { settlement }: Recording, error: unknown): Promise<void> {
    log.error({ error, projectId }, 'an outcome could not be told')
    await againIfRaced(() => pool.transaction((tx) => settleMessages(tx, projectId, [settlement], new Date())))
  }

  async function attempt(projectId: ProjectId, recording: Recording): Promise<void> {
    try {
      await writes.write(projectId, keyOf(recording.settlement), recording)
    } catch (error) {
      if (isPassing(error)) throw error
      await recordAlone(projectId, recording, error)
    }
  }

  function found(isAway: boolean, error?: unknown): void {
    if (isAway && !away) log.error({ error }, 'outcomes wait in memory: the database does not take them')
    if (!isAway && away) log.info('outcomes are recorded again: the database takes them')
    away = isAway
  }

  /** `onTheWay`: pushes of the project that no gateway has answered yet. */
  function isFull(projectId: ProjectId, onTheWay: number): boolean {
    const own = waitingOf.get(projectId) ?? 0
    return waiting >= mostWaiting || (away && waiting > 0) || (own >= fewWaiting && own + onTheWay >= mostUnrecorded)
  }

  function wait(projectId: ProjectId): void {
    waiting += 1
    waitingOf.set(projectId, (waitingOf.get(projectId) ?? 0) + 1)
  }

  function leave(projectId: ProjectId): void {
    waiting -= 1
    const left = waitingOf.get(projectId)! - 1
    if (left > 0) waitingOf.set(projectId, left)
    else waitingOf.delete(projectId)
    // Once for all that leave together.
    if (blocked.length === 0 || waking) return
    waking = true
    setImmediate(wake)
  }

  function wake(): void {
    waking = false
    for (const resume of blocked.splice(0)) resume()
  }

  return {
    /**
     * Keeps the outcome until the database has taken it, however long that is away. False where this process stops before,
     * or the database refuses it: then the row is as it was, and another process finds it by its time.
     */
    async record(projectId: ProjectId, recording: Recording): Promise<boolean> {
      wait(projectId)
      let refusals = 0
      try {
        for (let tries = 0; ; tries += 1) {
          try {
            await attempt(projectId, recording)
            found(false)
            return true
          } catch (error) {
            const isAway = isPassing(error)
            if (isAway) found(true, error)
            else refusals += 1
            if (closed || refusals > refusalsForgiven) {
              log.error({ error, projectId }, 'an outcome was not recorded')
              return false
            }
          }
          await sleep(waitsMs[Math.min(tries, waitsMs.length - 1)]!)
        }
      } finally {
        leave(projectId)
      }
    },
    /** Nothing while the database keeps up; else resolves when it does. */
    room(projectId: ProjectId, onTheWay: () => number): Promise<void> | undefined {
      const untilRoom = async () => {
        while (isFull(projectId, onTheWay())) await new Promise<void>((resolve) => blocked.push(resolve))
      }
      return isFull(projectId, onTheWay()) ? untilRoom() : undefined
    },
    /** From now on an outcome that the database does not take is dropped: the process ends. */
    close(): void {
      closed = true
    }
  }
}

/** Only ends are told: until then a message is pending, whatever it is called. */
function changesOf(done: Settlement[]): OutcomeChange[] {
  return done.flatMap((one) => {
    if (one.due_at !== null) return []
    return [
      {
        triggerId: one.trigger_id,
        campaignId: one.campaign_id,
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

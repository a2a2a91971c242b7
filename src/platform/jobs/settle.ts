import type { Log } from '../log.ts'
import { nowMs, type Run, released } from './run.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'

/**
 * Records the ends of runs, many in one statement. Returns the runs that remain to be recorded: a transaction that adds
 * their key again has locked their rows. They are retried until the lease expires.
 */
export async function settle(session: Session, ended: readonly Run[], log: Log): Promise<Run[]> {
  const done: Run[] = []
  const back: Run[] = []
  for (const run of ended) {
    // Runs whose lease expired must not be recorded, and runs that their handler ended are recorded already.
    if (run.lost && run.outcome !== released) continue
    if (run.outcome?.kind === 'back') back.push(run)
    else if (!run.completed) done.push(run)
  }
  return [...(await complete(session, done)), ...(await putBack(session, back, log))]
}

async function complete(session: Session, runs: Run[]): Promise<Run[]> {
  if (runs.length === 0) return []
  const rows = await session.query<Key>(store.complete, [
    ...keys(runs),
    runs.map(({ definition }) => definition.everyMs ?? null)
  ])
  return unsettled(runs, rows)
}

async function putBack(session: Session, runs: Run[], log: Log): Promise<Run[]> {
  if (runs.length === 0) return []
  const outcomes = runs.map(({ outcome }) => (outcome?.kind === 'back' ? outcome : undefined)!)
  const rows = await session.query<Key & { dies: boolean }>(store.putBack, [
    ...keys(runs),
    outcomes.map(({ error }) => error),
    outcomes.map(({ delayMs }) => delayMs),
    outcomes.map(({ counts }) => counts),
    outcomes.map(({ spent }) => spent),
    outcomes.map(({ anew = false }) => anew)
  ])
  const fates = new Map(rows.map((row) => [keyOf(row), row.dies]))
  for (const [index, { job, claim }] of runs.entries()) {
    const { error, planned } = outcomes[index]!
    const dies = fates.get(keyOf({ id: job.id, claim }))
    if (dies === undefined || (planned && !dies)) continue
    const about = { job: job.name, jobId: job.id, projectId: job.lane, attempt: job.attempts, error }
    if (dies) log.error(about, 'a job failed for the last time and is among the dead')
    else log.warn(about, 'a job failed and will be tried again')
  }
  return unsettled(runs, rows)
}

/** Renews all leases in one statement, and aborts the runs whose lease was lost. */
export async function renew(session: Session, runs: readonly Run[]): Promise<void> {
  // A young lease is left for the next time: most jobs end before they need a renewal.
  const old = ({ leaseEndsAt, definition: { leaseMs } }: Run) => leaseEndsAt - nowMs() < (leaseMs * 5) / 6
  const mine = runs.filter((run) => !run.lost && !run.completed && old(run))
  if (mine.length === 0) return
  const sentAt = nowMs()
  const rows = await session.query<Key & { renewed: boolean }>(store.renew, [
    ...keys(mine),
    mine.map(({ definition }) => definition.leaseMs)
  ])
  const held = new Map(rows.map((row) => [keyOf(row), row.renewed]))
  for (const run of mine) {
    const renewed = held.get(keyOf({ id: run.job.id, claim: run.claim }))
    if (renewed) run.leaseEndsAt = sentAt + run.definition.leaseMs
    else if (renewed === undefined && !run.completed) run.lose('another worker has taken the job')
  }
}

const keys = (runs: readonly Run[]): [string[], string[]] => [
  runs.map(({ job }) => job.id),
  runs.map(({ claim }) => claim)
]

/** A worker that lost a job may claim it again itself, so the id alone does not identify a run. */
interface Key {
  id: string
  claim: string
}

const keyOf = ({ id, claim }: Key): string => `${id} ${claim}`

function unsettled(runs: Run[], rows: readonly Key[]): Run[] {
  const settled = new Set(rows.map(keyOf))
  return runs.filter(({ job: { id }, claim, lost, completed, leaseEndsAt }) => {
    return !settled.has(keyOf({ id, claim })) && !lost && !completed && nowMs() < leaseEndsAt
  })
}

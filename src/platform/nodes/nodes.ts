import { hostname } from 'node:os'
import type { Db, Pool } from '../db/db.ts'
import { statement } from '../db/statement.ts'
import { createSession } from '../jobs/session.ts'
import type { Log } from '../log.ts'
import { version } from '../version.ts'

export type NodeRole = 'all' | 'api' | 'worker'
export type Nodes = Awaited<ReturnType<typeof joinNodes>>

const beatMs = 2_000
/** After a failed beat: the others wait to learn that this process lives. */
const againMs = 500
/** A swallowed answer must not keep the next beat waiting for longer. */
const answerMs = 3_000
/** Three beats missed. Counted by the database's clock, so that nodes with other clocks agree. */
const aliveFor = '7 seconds'
/**
 * A node is dead when it has missed beats for this long, and only to a node that has missed none itself in that time. An
 * outage of the database that the judge did not notice (less than `brokenAfter`) costs another node that long, a beat
 * before it and at most 3.5 s after it: 9.5 s.
 */
const deadAfter = '10 seconds'
const brokenAfter = '4 seconds'

const join = statement(
  'nodes.join',
  `insert into nodes (id, role, host, pid, version, started_at, seen_at, steady_since)
   values ($1, $2, $3, $4, $5, now(), now(), now())`
)
const beat = statement(
  'nodes.beat',
  `update nodes
      set seen_at = now(),
          steady_since = case when seen_at < now() - interval '${brokenAfter}' then now() else steady_since end
    where id = $1
   returning id`
)
const alive = statement(
  'nodes.alive',
  `select id, role, host, pid, version, started_at, seen_at from nodes where seen_at > now() - interval '${aliveFor}' order by id`
)
const living = statement(
  'nodes.living',
  `select id from nodes
    where seen_at > now() - interval '${deadAfter}'
       or not exists (
         select from nodes me
          where me.id = $1 and me.seen_at > now() - interval '${brokenAfter}'
            and me.steady_since <= now() - interval '${deadAfter}')`
)
const leave = statement('nodes.leave', 'delete from nodes where id = $1')
const clear = statement('nodes.clear', 'delete from nodes')
const forget = statement('nodes.forget', `delete from nodes where seen_at < now() - interval '1 day'`)

export interface NodeRow {
  id: string
  role: NodeRole
  host: string
  pid: number
  version: string
  started_at: Date
  seen_at: Date
}

/** Those at work on this database, asked by one that is not among them. */
export const listNodes = (db: Db) => db.query<NodeRow>(alive)

/**
 * The nodes that may be alive, as the node `me` can tell: all that are in the list while its own contact to the database
 * is younger than a beat that is missed. One that has left is not among them.
 */
export const livingNodes = async (db: Db, me: string): Promise<Set<string>> =>
  new Set((await db.query<{ id: string }>(living, [me])).map(({ id }) => id))

export interface Joining {
  id: string
  role: NodeRole
  /** Set where no other process can reach the database, as with the embedded one: then all other nodes are dead. */
  alone: boolean
}

/** Said wherever an operator may look while no node runs jobs. */
export const noWorker =
  'No node runs jobs: triggers, retries, tasks of agents and webhooks wait. Start a node with --role worker or --role all.'
/** A worker that is being restarted is no reason to complain. */
const complainAfterMs = 15_000
const complainEveryMs = 5 * 60_000

/**
 * Enters this process into the list of nodes at work and keeps it there by heart-beats, on a connection of their own: a
 * pool whose connections are all taken or lost must not make this process look dead.
 */
export async function joinNodes(pool: Pool, { id, role, alone }: Joining, log: Log) {
  const session = createSession(pool, async () => {}, answerMs)
  const entry = [id, role, hostname(), process.pid, version]
  let others: NodeRow[] = []
  let timer: NodeJS.Timeout | undefined
  let left = false
  let unworkedSinceMs: number | undefined
  let complainedAtMs = Number.NEGATIVE_INFINITY

  const workers = () => others.filter((node) => node.role !== 'api').length
  const isIdle = () => unworkedSinceMs !== undefined && performance.now() - unworkedSinceMs >= complainAfterMs

  function noticeWorkers(): void {
    if (workers() > 0) unworkedSinceMs = undefined
    else unworkedSinceMs ??= performance.now()
    if (!isIdle() || performance.now() - complainedAtMs < complainEveryMs) return
    complainedAtMs = performance.now()
    log.warn(noWorker)
  }

  async function tick(): Promise<void> {
    let waitMs = beatMs
    try {
      // A row swept away while the database could not be reached is entered again.
      const known = await session.query(beat, [id])
      if (known.length === 0 && !left) await session.query(join, entry)
      others = await session.query<NodeRow>(alive)
      noticeWorkers()
    } catch (error) {
      // The last count stays in force: limits must not swing because the database is away.
      log.debug({ error: (error as Error).message }, 'a heart-beat failed')
      waitMs = againMs
    }
    if (!left) timer = setTimeout(() => void tick(), waitMs)
  }

  if (alone) await pool.run(clear)
  await pool.run(join, entry)
  await tick()
  return {
    id,
    list: () => others,
    /** Nodes that answer requests, this one among them. */
    serving: () => Math.max(1, others.filter((node) => node.role !== 'worker').length),
    /** Nodes that run jobs. */
    working: () => Math.max(1, workers()),
    /** What an operator should know, if anything: for a while now no node has run jobs. */
    warning: () => (isIdle() ? noWorker : undefined),
    /** How many of each role. */
    counts: (): Record<NodeRole, number> => {
      const counts = { all: 0, api: 0, worker: 0 }
      for (const { role } of others) counts[role] += 1
      return counts
    },
    sweep: () => pool.run(forget),
    async leave(): Promise<void> {
      left = true
      clearTimeout(timer)
      await session.query(leave, [id]).catch(() => {})
      await session.close()
    }
  }
}

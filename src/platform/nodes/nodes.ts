import { hostname } from 'node:os'
import { settings } from '../config/config.ts'
import type { Pool } from '../db/db.ts'
import { newestMigration } from '../db/migrations.ts'
import { createSession } from '../jobs/session.ts'
import type { Log } from '../log.ts'
import { version } from '../version.ts'
import type { KnownNode, NodeRole, NodeRow } from './store.ts'
import * as store from './store.ts'

export { listNodes, livingNodes, type NodeRole, type NodeRow } from './store.ts'
export type Nodes = Awaited<ReturnType<typeof joinNodes>>

const beatMs = 2_000
/** The pause after a failed beat is shorter, because other nodes wait for the next one. */
const againMs = 500
/** The time limit of a beat: a lost response must not delay the next one for longer. */
const answerMs = 3_000
export interface Joining {
  id: string
  role: NodeRole
  /** The parent of this process, if it is one of several that share their rate limits. */
  parentId: string | null
  /** Set if no other process can reach the database, as with the embedded one: then all other nodes are dead. */
  alone: boolean
}

/** The text that operators see while no node runs jobs. */
export const noWorker =
  'No node runs jobs: triggers, retries, tasks of agents and webhooks wait. Start a node with --role worker or --role all.'
/** How long a worker may be absent without a warning: it may be restarting. */
const complainAfterMs = 15_000
const complainEveryMs = 5 * 60_000

/**
 * Enters this process into the list of active nodes and keeps it there by heartbeats, on a separate connection: a pool
 * whose connections are all used or lost must not make this process look dead.
 */
export async function joinNodes(pool: Pool, { id, role, parentId, alone }: Joining, log: Log) {
  const session = createSession(pool, async () => {}, answerMs)
  const entry = [id, role, hostname(), process.pid, version, newestMigration(), Object.keys(settings), parentId]
  let others: KnownNode[] = []
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
      // A row that was deleted while the database could not be reached is inserted again.
      const known = await session.query(store.beat, [id])
      if (known.length === 0 && !left) await session.query(store.join, entry)
      others = await session.query<KnownNode>(store.aliveWithParents)
      noticeWorkers()
    } catch (error) {
      // The last count stays in force: limits must not change because the database cannot be reached.
      log.debug({ error: (error as Error).message }, 'a heart-beat failed')
      waitMs = againMs
    }
    if (!left) timer = setTimeout(() => void tick(), waitMs)
  }

  if (alone) await pool.run(store.clear)
  await pool.run(store.join, entry)
  await tick()
  return {
    id,
    list: (): NodeRow[] => others.map(({ parent_id: _, ...node }) => node),
    /** The number of nodes that serve requests; at least 1. */
    serving: () => Math.max(1, others.filter((node) => node.role !== 'worker').length),
    /** The number of those that grant rate limits of their own: processes of one parent count as one. At least 1. */
    hosts: () =>
      Math.max(1, new Set(others.flatMap((node) => (node.role === 'worker' ? [] : [node.parent_id ?? node.id]))).size),
    /** The number of nodes that run jobs; at least 1. */
    working: () => Math.max(1, workers()),
    /** A warning for operators, if no node has run jobs for a while. */
    warning: () => (isIdle() ? noWorker : undefined),
    /** The number of nodes of each role. */
    counts: (): Record<NodeRole, number> => {
      const counts = { all: 0, api: 0, worker: 0 }
      for (const { role } of others) counts[role] += 1
      return counts
    },
    sweep: () => pool.run(store.forget),
    async leave(): Promise<void> {
      left = true
      clearTimeout(timer)
      await session.query(store.leave, [id]).catch(() => {})
      await session.close()
    }
  }
}

import { hostname } from 'node:os'
import type { Db, Pool } from './db/db.ts'
import { statement } from './db/statement.ts'
import { newId } from './ids.ts'
import type { Log } from './log.ts'
import { version } from './version.ts'

export type NodeRole = 'all' | 'api' | 'worker'
export type Nodes = Awaited<ReturnType<typeof joinNodes>>

const beatMs = 2_000
/** Three beats missed. Counted by the database's clock, so that nodes with other clocks agree. */
const aliveFor = '7 seconds'

const join = statement(
  'nodes.join',
  `insert into nodes (id, role, host, pid, version, started_at, seen_at) values ($1, $2, $3, $4, $5, now(), now())`
)
const beat = statement('nodes.beat', 'update nodes set seen_at = now() where id = $1')
const alive = statement(
  'nodes.alive',
  `select id, role, host, pid, version, started_at, seen_at from nodes where seen_at > now() - interval '${aliveFor}' order by id`
)
const leave = statement('nodes.leave', 'delete from nodes where id = $1')
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

/** Enters this process into the list of nodes at work and keeps it there by heart-beats. */
export async function joinNodes(pool: Pool, role: NodeRole, log: Log) {
  const id = newId()
  const enter = () => pool.run(join, [id, role, hostname(), process.pid, version])
  let others: NodeRow[] = []
  let timer: NodeJS.Timeout | undefined
  let left = false

  async function tick(): Promise<void> {
    try {
      // A row swept away while the database could not be reached is entered again.
      if ((await pool.run(beat, [id])) === 0 && !left) await enter()
      others = await pool.query<NodeRow>(alive)
    } catch (error) {
      // The last count stays in force: limits must not swing because the database is away.
      log.debug({ error: (error as Error).message }, 'a heart-beat failed')
    }
    if (!left) timer = setTimeout(() => void tick(), beatMs)
  }

  await enter()
  await tick()
  return {
    id,
    list: () => others,
    /** Nodes that answer requests, this one among them. */
    serving: () => Math.max(1, others.filter((node) => node.role !== 'worker').length),
    /** Nodes that run jobs. */
    working: () => Math.max(1, others.filter((node) => node.role !== 'api').length),
    sweep: () => pool.run(forget),
    async leave(): Promise<void> {
      left = true
      clearTimeout(timer)
      await pool.run(leave, [id]).catch(() => {})
    }
  }
}

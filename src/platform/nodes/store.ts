import type { Db } from '../db/db.ts'
import { statement } from '../db/statement.ts'

export type NodeRole = 'all' | 'api' | 'worker'

/** Three beats missed. Counted by the database's clock, so that nodes with other clocks agree. */
const aliveFor = '7 seconds'
/**
 * A node is dead when it has missed beats for this long, and only a node that missed none itself in that time may
 * decide so. An outage of the database that the deciding node did not notice (less than `brokenAfter`) costs another
 * node that long, a beat before it and at most 3.5 s after it: 9.5 s.
 */
const deadAfter = '10 seconds'
const brokenAfter = '4 seconds'

export const join = statement(
  'nodes.join',
  `insert into nodes (id, role, host, pid, version, newest_migration, settings, parent_id, started_at, seen_at, steady_since)
   values ($1, $2, $3, $4, $5, $6, $7, $8, now(), now(), now())`
)
export const beat = statement(
  'nodes.beat',
  `update nodes
      set seen_at = now(),
          steady_since = case when seen_at < now() - interval '${brokenAfter}' then now() else steady_since end
    where id = $1
   returning id`
)
export const alive = statement(
  'nodes.alive',
  `select id, role, host, pid, version, started_at, seen_at from nodes where seen_at > now() - interval '${aliveFor}' order by id`
)
/** Apart from `alive`, which also reads databases that are not migrated yet. */
export const aliveWithParents = statement(
  'nodes.alive_with_parents',
  `select id, role, host, pid, version, started_at, seen_at, parent_id from nodes
    where seen_at > now() - interval '${aliveFor}' order by id`
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
export const leave = statement('nodes.leave', 'delete from nodes where id = $1')
export const clear = statement('nodes.clear', 'delete from nodes')
export const forget = statement('nodes.forget', `delete from nodes where seen_at < now() - interval '1 day'`)

export interface NodeRow {
  id: string
  role: NodeRole
  host: string
  pid: number
  version: string
  started_at: Date
  seen_at: Date
}

export interface KnownNode extends NodeRow {
  /** The parent that the process has with others; null for one that was started by itself. */
  parent_id: string | null
}

/** The active nodes on this database, for a process that has not joined them. */
export const listNodes = (db: Db) => db.query<NodeRow>(alive)

/**
 * The nodes that may be alive, as far as the node `me` can tell. Until `me` itself has reached the database without a
 * break for `deadAfter`, these are all nodes in the list. A node that has left is not in the list.
 */
export const livingNodes = async (db: Db, me: string): Promise<Set<string>> =>
  new Set((await db.query<{ id: string }>(living, [me])).map(({ id }) => id))

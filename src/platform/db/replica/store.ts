import type { Db } from '../runner.ts'
import { statement } from '../statement.ts'

/** How far the WAL of the primary has been written. Every acknowledged commit lies before it. */
export interface Position {
  lsn: string
  timeline: number
  /** Tells one installation of PostgreSQL from another; standbys have that of their primary. */
  system: string
  database: string
  distributed: boolean
}

export const position = statement(
  'replica.position',
  `select pg_current_wal_lsn()::text as lsn,
          ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline,
          (select system_identifier::text from pg_control_system()) as system, current_database() as database,
          exists (select from pg_extension where extname = 'citus') as distributed`
)

/** How far a standby has come. */
export interface Replay {
  standby: boolean
  /** Whether it has replayed the WAL up to a position of the primary. */
  reached: boolean
  timeline: number
  system: string
  database: string
  /** The age of the last replayed commit. On a quiet primary it grows although nothing is missing. */
  age_seconds: number | null
}

// A role without pg_read_all_stats sees no timeline of the receiver. That of the last restart point is then compared: after a
// failover it is old for a few minutes, in which the replica is not used.
export const replay = statement(
  'replica.replay',
  `select pg_is_in_recovery() as standby, coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached,
          coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint())) as timeline,
          (select system_identifier::text from pg_control_system()) as system, current_database() as database,
          extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as age_seconds`
)

export const readPosition = async (db: Db): Promise<Position> => (await db.one<Position>(position))!

import type pg from 'pg'

// Plain queries: doctor reads without the pool, whose statements assume a migrated database.

interface Server {
  version: string
  encoding: string
  now: Date
  set_up: boolean
}

export async function readServer(client: pg.Client): Promise<Server> {
  const { rows } = await client.query<Server>(
    `select current_setting('server_version') as version, current_setting('server_encoding') as encoding, clock_timestamp() as now,
            to_regclass('migrations') is not null as set_up`
  )
  return rows[0]!
}

export interface Applied {
  id: number
  name: string
  /** Whether code that does not know the migration may run; null if a version before this column applied it. */
  beside: boolean | null
}

export async function readApplied(client: pg.Client): Promise<Applied[]> {
  // Read from JSON, because the first versions made the table without the column.
  const { rows } = await client.query<Applied>(
    `select id, name, (to_jsonb(m) ->> 'beside')::boolean as beside from migrations m order by id`
  )
  return rows
}

/** Set after a restore until `tidings resume`. */
export async function readPause(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client
    .query<{ value: string }>(`select value from settings where name = 'paused'`)
    .catch(() => ({ rows: [] }))
  return rows[0]?.value
}

/** Undefined if an interrupted first start created no table. */
export async function readSealedCheck(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client
    .query<{ value: string }>(`select value from settings where name = 'master_key_check'`)
    .catch(() => ({ rows: [] }))
  return rows[0]?.value
}

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

export async function readApplied(client: pg.Client): Promise<{ id: number; name: string }[]> {
  return (await client.query<{ id: number; name: string }>('select id, name from migrations order by id')).rows
}

/** Undefined if an interrupted first start created no table. */
export async function readSealedCheck(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client
    .query<{ value: string }>(`select value from settings where name = 'master_key_check'`)
    .catch(() => ({ rows: [] }))
  return rows[0]?.value
}

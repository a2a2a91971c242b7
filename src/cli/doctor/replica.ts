import pg from 'pg'
import { databaseName } from '../../platform/db/hosts/hosts.ts'
import { catchUp, patienceMs, Unfit } from '../../platform/db/replica/standing.ts'
import { type Position, position } from '../../platform/db/replica/store.ts'
import { type Finding, ok, warn } from './check.ts'

const name = 'Replica'
const limitMs = 5_000

/** Checks whether the server of DATABASE_REPLICA_URL would serve reads. The service runs without it too. */
export async function checkReplica(primary: pg.Client, url: string): Promise<Finding> {
  const shown = databaseName(url)
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs, query_timeout: limitMs })
  client.on('error', () => {})
  try {
    const { rows } = await primary.query<Position>(position.text)
    await client.connect()
    await catchUp(client, rows[0]!)
    return ok(name, `${shown}, a standby that is less than ${patienceMs} ms behind`)
  } catch (error) {
    const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
    const what = error instanceof Unfit ? reason : `cannot be used (${reason})`
    return warn(name, `${shown} ${what}. The primary serves its reads. Repair it, or unset DATABASE_REPLICA_URL.`)
  } finally {
    await client.end().catch(() => {})
  }
}

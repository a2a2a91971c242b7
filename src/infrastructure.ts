import type { Infrastructure } from './capabilities.ts'
import type { Config } from './platform/config/config.ts'
import { openPool, type Pool } from './platform/db/db.ts'
import { createListener } from './platform/db/listen.ts'
import type { Database } from './platform/db/open.ts'
import { newId } from './platform/ids.ts'
import { countJobs, oldestReady } from './platform/jobs/jobs.ts'
import type { Log } from './platform/log.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { finishRotation } from './platform/secrets/rotation.ts'
import { hasSecrets, masterKey } from './platform/secrets/secrets.ts'
import { openTelemetry, type Telemetry } from './platform/telemetry/telemetry.ts'
import { version } from './platform/version.ts'

/** Opens what every capability stands on: the database, the master key, metrics and telemetry. */
export async function openInfrastructure(
  { config, log, say }: { config: Config; log: Log; say: (line: string) => void },
  database: Pick<Database, 'connection'>,
  opened: Infrastructure['opened']
): Promise<{ infrastructure: Infrastructure; telemetry: Telemetry }> {
  const pool = openPool(database.connection, log, config.DATABASE_POOL_SIZE, { patient: true })
  opened.push(pool.close)
  // An interrupted change of the master key is finished before the key is read.
  if (!config.MASTER_KEY && (await finishRotation(pool, config.DATA_DIR)))
    say('Finished a change of the master key that had been cut off.')
  const key = await masterKey(config.MASTER_KEY, config.DATA_DIR, () => hasSecrets(pool))
  const metrics = createMetrics()
  metrics.gauge('tidings_build_info', 'The version of this node; its value is 1.', () => ({ [version]: 1 }), {
    label: 'version',
    of: 'all'
  })
  countDatabase(metrics, pool)
  countReads(metrics, pool.replica)
  pool.replica?.open()
  const nodeId = newId()
  const telemetry = openTelemetry({ config, log, metrics, nodeId })
  opened.push(telemetry.close)
  const listener = createListener(pool, log)
  opened.push(listener.close)
  return { infrastructure: { config, pool, listener, log, metrics, key, opened, nodeId }, telemetry }
}

function countDatabase(metrics: Metrics, pool: Pool): void {
  metrics.gauge('tidings_database_connections', 'Connections of the pool, and requests that wait for one.', pool.stats)
  metrics.gauge(
    'tidings_database_server_in_use',
    'Servers of DATABASE_URL, if it names several: 1 for the one that takes the writes.',
    pool.servers.inUse,
    { label: 'server', of: 'all' }
  )
  metrics.counter('tidings_database_server_changes_total', 'How often another server took over the writes.', () => [
    { labels: {}, value: pool.servers.changes() }
  ])
  metrics.gauge(
    'tidings_jobs',
    'Jobs of the whole installation: ready, for later, running, given up.',
    () => countJobs(pool),
    { of: 'all' }
  )
  metrics.gauge(
    'tidings_jobs_oldest_ready_seconds',
    'How long the oldest job that a worker could take has waited.',
    () => oldestReady(pool),
    { label: 'queue', of: 'all' }
  )
}

/** Figures about the replica; without one the metrics have names and no samples, so that dashboards find them. */
function countReads(metrics: Metrics, replica: Pool['replica']): void {
  metrics.counter(
    'tidings_database_replica_reads_total',
    'Reads of pages and exports by the server that served them: the replica, or the primary in its place.',
    () => Object.entries(replica?.stats().reads ?? {}).map(([server, value]) => ({ labels: { server }, value }))
  )
  metrics.gauge(
    'tidings_database_replica',
    'The server of DATABASE_REPLICA_URL: usable is 1 while it serves reads, lag_seconds is how far it is behind.',
    () => (replica ? usableOf(replica.stats()) : {}),
    { label: 'figure', of: 'all' }
  )
}

const usableOf = ({ why, lagSeconds }: { why: string | undefined; lagSeconds: number }) => ({
  usable: why === undefined ? 1 : 0,
  lag_seconds: lagSeconds
})

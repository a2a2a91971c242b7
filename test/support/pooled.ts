import { type Connection, openPool, type Pool } from '../../src/platform/db/db.ts'
import { connectionOf } from '../../src/platform/db/open.ts'
import { onCitus } from './citus-databases.ts'
import { silentLog } from './log.ts'

/** The address of a pooler before the server of the suite; see test/run.ts. */
export const poolerSetting = 'TEST_POOLER_URL'

/**
 * The settings of a service, which leads through the pooler if the suite has one. A test that names another server or
 * makes its own settings for a pooler keeps them.
 */
export function throughPooler(env: Record<string, string>): Record<string, string> {
  const { [poolerSetting]: pooler, TEST_DATABASE_URL: server } = process.env
  const { DATABASE_URL: url } = env
  if (!pooler || !url || !server || env.DATABASE_POOLER || !isOn(server, url)) return env
  const through = new URL(pooler)
  through.pathname = new URL(url).pathname
  return { ...env, DATABASE_URL: through.href, DATABASE_POOLER: 'transaction', DATABASE_LISTEN_URL: url }
}

/** Whether an address differs from that of the server only in its database, which a test made. */
function isOn(server: string, url: string): boolean {
  const [one, other] = [new URL(server), new URL(url)]
  if (!other.pathname.startsWith('/tidings_test_')) return false
  return ['host', 'username', 'search'].every((part) => Object(one)[part] === Object(other)[part])
}

/** The same for a pool without a service. */
export function poolOf(url: string, size?: number): Pool {
  const { DATABASE_URL, DATABASE_POOLER, DATABASE_LISTEN_URL } = throughPooler({ DATABASE_URL: url })
  const pooler = DATABASE_POOLER === 'transaction' ? DATABASE_POOLER : undefined
  const connection: Connection = connectionOf({
    DATABASE_URL: DATABASE_URL!,
    DATABASE_POOLER: pooler,
    DATABASE_LISTEN_URL
  })
  return openPool({ ...connection, distributed: onCitus }, silentLog, size)
}

import { startApp } from '../../src/app.ts'
import type { ApnsCredential } from '../../src/gateways/credentials/credential.ts'
import { createProviderTokens } from '../../src/gateways/credentials/provider-tokens.ts'
import { createSender } from '../../src/gateways/sender/sender.ts'
import { readConfig } from '../../src/platform/config/config.ts'
import { openPool } from '../../src/platform/db/db.ts'
import { connectionOf } from '../../src/platform/db/open.ts'
import { createLog } from '../../src/platform/log.ts'
import type { NodeRole } from '../../src/platform/nodes/nodes.ts'

// A node in a separate process, for tests that kill it or cut its database. It sends for real, to a simulated APNs in
// another process with its own ledger. GATEWAY has the credential, TOKEN the provider token; without TOKEN the node
// makes its own. ROLE is the role of the node. test/crash/rolling-upgrade.test.ts starts this program of an earlier
// commit, so its settings keep their meaning.

const credential = JSON.parse(process.env.GATEWAY!) as ApnsCredential
const config = readConfig(process.env)
const role = (process.env.ROLE ?? 'all') as NodeRole
const log = await createLog('warn', false)
const connection = connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL! })
const key = config.MASTER_KEY!
const providerTokens = process.env.TOKEN
  ? { of: async () => process.env.TOKEN! }
  : createProviderTokens({ pool: openPool(connection, log, 2), key })
const sender = createSender({
  credentials: { find: async (projectId) => ({ ...credential, projectId }) },
  providerTokens,
  // On a crowded machine a response must not look lost: the sender would repeat the push, as it should.
  settings: process.env.DEADLINE_MS === '' ? {} : { deadlineMs: 60_000 },
  log
})
const app = await startApp({ config, database: { connection }, log, role, say: () => {}, sender })
process.stdout.write(`it is ready at ${app.baseUrl}\n`)
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))

// A node of the service whose pushes go to the gateway of bench/campaigns.ts: `campaign-node.ts <role> <gateway as JSON>`.
import { startApp } from '../../src/app.ts'
import { createSender } from '../../src/gateways/sender/sender.ts'
import { readConfig } from '../../src/platform/config/config.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createLog } from '../../src/platform/log.ts'
import type { ApnsGateway } from './apns-gateway.ts'

const role = process.argv[2] as 'api' | 'worker' | 'all'
const { origin, ca, providerToken }: ApnsGateway = JSON.parse(process.argv[3]!)
const log = await createLog('error')
const common = { id: 'bench', version: 1, origin, ca, simulated: true }
const apns = {
  gateway: 'apns',
  keyId: 'K',
  teamId: 'T',
  privateKey: '',
  topic: 'com.example.app',
  channelsOrigin: ''
} as const
const sender = createSender({
  credentials: {
    find: async (projectId: ProjectId) => ({ ...common, ...apns, projectId, environment: 'production' as const })
  },
  providerTokens: { of: async () => providerToken },
  log
})

const config = readConfig(process.env)
const database = { connection: { connectionString: config.DATABASE_URL! } }
const app = await startApp({ config, database, log, role, say: () => {}, sender })
process.stdout.write(`is ready at ${app.baseUrl}\n`)
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))

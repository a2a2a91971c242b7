// A node whose gateways accept everything after some milliseconds: what is left is the cost of campaigns themselves.
import { startApp } from '../../src/app.ts'
import type { Sender } from '../../src/delivery/delivery.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createLog } from '../../src/platform/log.ts'

const [role, answerMs] = process.argv.slice(2) as ['api' | 'worker', string]
const mostInFlight = 1_000
let inFlight = 0
let counted = 0
let firstAt = 0

const sender: Sender = {
  submit(_push, done) {
    if (inFlight >= mostInFlight) return false
    inFlight += 1
    if (firstAt === 0) firstAt = Date.now()
    setTimeout(() => {
      inFlight -= 1
      done({ kind: 'accepted', gatewayMessageId: String(++counted) })
    }, Number(answerMs))
    return true
  },
  ready: () => new Promise((resolve) => setTimeout(resolve, 1)),
  close: async () => {}
}

const config = readConfig(process.env)
const log = await createLog('error')
const database = { connection: { connectionString: config.DATABASE_URL! } }
const app = await startApp({ config, database, log, role, say: () => {}, sender })
process.stdout.write(`is ready at ${app.baseUrl}\n`)
// Asked by SIGUSR2: what was handed over, since when, and what this process has used.
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage()
  const { maxRSS } = process.resourceUsage()
  process.stdout.write(`used ${JSON.stringify({ counted, firstAt, cpuMs: (user + system) / 1000, maxRss: maxRSS })}\n`)
  firstAt = 0
})
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))

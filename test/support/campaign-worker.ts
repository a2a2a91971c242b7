import { openSync, writeSync } from 'node:fs'
import { startApp } from '../../src/app.ts'
import type { Push, Sender } from '../../src/gateways/gateways.ts'
import { readConfig } from '../../src/platform/config/config.ts'
import { connectionOf } from '../../src/platform/db/open.ts'
import { silentLog } from './log.ts'

// A node in a separate process, for tests that kill it. Its gateway writes each push into a ledger that outlives it,
// and accepts it a moment later: a worker that dies in between never gets the response.

const [role, ledger, answerMs] = process.argv.slice(2) as ['all' | 'api' | 'worker', string, string]
const file = openSync(ledger, 'a')
let inFlight = 0
let counted = 0

/** The time and the state of a change of a channel. Other requests about channels are told by their kind. */
function broadcastOf(content: Push['content']): string | undefined {
  if (!content.kind.startsWith('channel-')) return undefined
  if (content.kind !== 'channel-broadcast') return content.kind
  const { timestamp, contentState } = content.change.activity
  return `${timestamp}:${JSON.stringify(contentState)}`
}

const sender: Sender = {
  submit({ deviceId, collapseId, content }, done) {
    if (inFlight >= 100) return false
    inFlight += 1
    writeSync(file, `${deviceId} ${broadcastOf(content) ?? collapseId} ${process.pid}\n`)
    setTimeout(() => {
      inFlight -= 1
      done({ kind: 'accepted', gatewayMessageId: `${process.pid}-${++counted}` })
    }, Number(answerMs))
    return true
  },
  ready: () => new Promise((resolve) => setTimeout(resolve, 2)),
  close: async () => {}
}

const config = readConfig(process.env)
const database = { connection: connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL! }) }
const app = await startApp({ config, database, log: silentLog, role, say: () => {}, sender })
process.stdout.write(`it is ready at ${app.baseUrl}\n`)
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))

import { appendFileSync } from 'node:fs'
import { startApp } from '../../src/app.ts'
import type { Push, Sender } from '../../src/gateways/gateways.ts'
import { readConfig } from '../../src/platform/config/config.ts'
import { connectionOf } from '../../src/platform/db/open.ts'
import { silentLog } from './log.ts'

// The whole service in a process of its own that can be killed, with gateways that record the pushes they accept.
// Started by test/crash/messages.test.ts.

const ledger = process.env.LEDGER!
/** Like a gateway behind a slow line: this many at a time, this long each. */
const window = 40
const answerMs = Number(process.env.ANSWER_MS)
/** The gateway responds to this many pushes and then to none, so that a test can kill the service in mid-request. */
const answers = Number(process.env.ANSWERS ?? Infinity)

let inFlight = 0
let answered = 0
let waiting: (() => void)[] = []

const sender: Sender = {
  submit(push: Push, done) {
    if (inFlight >= window) return false
    inFlight += 1
    answered += 1
    if (answered > answers) return true
    setTimeout(() => {
      // Accepted from here on, whether or not the response arrives.
      appendFileSync(ledger, `${JSON.stringify([push.deviceId, push.messageId, push.collapseId, push.pushId])}\n`)
      inFlight -= 1
      for (const resume of waiting.splice(0)) resume()
      done({ kind: 'accepted', gatewayMessageId: push.pushId })
    }, answerMs)
    return true
  },
  ready: () => new Promise((resolve) => waiting.push(resolve)),
  close: async () => {
    waiting = []
  }
}

const config = readConfig(process.env)
const connection = connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL! })
const app = await startApp({
  config,
  database: { connection },
  log: silentLog,
  role: 'all',
  say: () => {},
  sender
})
process.stdout.write(`It is ready at ${app.baseUrl}\n`)
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))

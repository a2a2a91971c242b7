import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { emptyDatabase, withClient } from './database.ts'
import { ask, type Json } from './http.ts'
import { startProgram, temporaryFolder } from './program.ts'

const program = join(import.meta.dirname, 'campaign-worker.ts')
const token = 'svc_at_cluster'
export const secretKey = 'svc_sk_cluster'

/** A push as it reached the gateway, and the worker that dispatched it. */
export interface Entry {
  device: string
  collapseId: string
  pid: number
}

/** Processes on one database that can be killed, with one ledger of the pushes that reached the gateways. */
export async function cluster(t: TestContext) {
  const { url } = await emptyDatabase(t)
  const folder = await temporaryFolder(t)
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: token,
    BOOTSTRAP_PROJECT_ID: 'shop',
    BOOTSTRAP_SECRET_KEY: secretKey,
    SHUTDOWN_SECONDS: '1'
  }
  return {
    /** A node whose gateway accepts a push this long after it arrived. */
    start: (role: 'all' | 'api' | 'worker', answerMs: number) =>
      startProgram(t, env, [process.execPath, program, role, ledger, String(answerMs)]),
    call: async (base: string, method: string, path: string, json?: Json): Promise<Json> => {
      const headers = { authorization: `Bearer ${token}` }
      const reply = await ask(base, method, `/manage/v1/projects/shop${path}`, { headers, ...(json && { json }) })
      assert.equal(reply.status < 300, true, reply.text)
      return reply.json
    },
    sql: async (text: string, values?: unknown[]): Promise<Json[]> =>
      (await withClient(url, (client) => client.query(text, values))).rows,
    entries: (): Entry[] =>
      readFileSync(ledger, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [device, collapseId, pid] = line.split(' ') as [string, string, string]
          return { device, collapseId, pid: Number(pid) }
        })
  }
}

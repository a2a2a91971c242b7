import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readHosts } from '../../src/platform/db/hosts/hosts.ts'
import { lookAt } from '../../src/platform/db/hosts/watch.ts'
import { withClient } from './database.ts'
import { eventually } from './eventually.ts'
import { ask, type Json } from './http.ts'
import { repeated, startGateway } from './mixed/gateway.ts'
import { project, secretKey, seeded, startLoad } from './mixed/load.ts'
import { furnish, type MixedNode, mixedNodes } from './mixed/nodes.ts'
import { assertNothingLost, settled } from './mixed/verdict.ts'
import { startReceiver } from './receiver.ts'

export interface FailoverOptions {
  /** The address with all servers. */
  database: string
  clients: number
  people: number
  pauseMs: number
}

/**
 * Two nodes on a database of several servers, under a load of users, sends, triggers, broadcasts, agents and webhooks.
 * The gateway and the receiver of webhooks count by themselves.
 */
export async function underLoad(t: TestContext, { database, clients, people, pauseMs }: FailoverOptions) {
  const gateway = await startGateway(t, 20)
  const receiver = await startReceiver({ secure: false })
  t.after(() => receiver.close())
  const { start } = mixedNodes(t, { database, gateway })
  const sql = (text: string, values?: unknown[]): Promise<Json[]> => onPrimary(database, text, values)
  const nodes: MixedNode[] = [await start('all'), await start('all')]
  await furnish(nodes[0]!.url, { people, receiver, sql, occurrences: [] })
  const urls = nodes.map(({ url }) => url)
  const options = { urls: () => urls, random: seeded(17), clients, people, broadcastEveryMs: 4_000, pauseMs }
  const load = startLoad(options)

  return {
    load,
    sql,
    acknowledged: () => load.all.filter((one) => one.acknowledged).length,
    /** Milliseconds until each node has acknowledged a write that it was asked for from now on. */
    firstWrite: async (limitMs = 60_000): Promise<number> => {
      const beganAt = performance.now()
      await Promise.all(urls.map((url) => untilWritten(url, limitMs)))
      return Math.round(performance.now() - beganAt)
    },
    /** Ends the load, and compares what callers were told with what there is. */
    async verdict(withinMs: number) {
      await load.stop()
      await settled({ sql }, withinMs)
      const told = { sql, url: urls[0]!, asked: load.all, arrivals: gateway.arrivals, receiver, people, occurrences: 0 }
      await assertNothingLost(told)
      assert.deepEqual(load.surprises, [], 'responses that no client expects')
      const doubled = repeated(gateway.arrivals()).length
      return { acknowledged: load.all.length, arrived: gateway.arrivals().length, doubled, statuses: load.statuses }
    }
  }
}

let writes = 0

async function untilWritten(url: string, limitMs: number): Promise<void> {
  const headers = { 'x-service-project-id': project, 'x-service-api-key': secretKey }
  writes += 1
  const json = { project_user_id: `first-write-${writes}` }
  for (const untilMs = Date.now() + limitMs; Date.now() < untilMs; await sleep(20)) {
    const late = sleep(5_000, undefined, { ref: false })
    const reply = await Promise.race([
      ask(url, 'POST', '/api/v1/users', { json, headers }).catch(() => undefined),
      late
    ])
    if (reply?.status === 200) return
  }
  throw new Error(`${url} took no write within ${limitMs} ms`)
}

/** Runs a statement on the primary, whichever server that is now. */
async function onPrimary(database: string, text: string, values: unknown[] = []): Promise<Json[]> {
  return eventually(async () => {
    const hosts = readHosts(database)
    const states = await Promise.all(hosts.map(lookAt))
    const primary = hosts[states.findIndex(({ kind }) => kind === 'primary')]
    assert.ok(primary, 'there is a primary')
    return (await withClient(primary.url, (client) => client.query(text, values))).rows
  }, 30_000)
}

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { signJwt } from '../../src/gateways/credentials/jwt.ts'
import { apnsCredential } from '../gateways/senders.ts'
import { simulator } from '../simulator/client.ts'
import { givenMany } from './campaigns.ts'
import { emptyDatabase, withClient } from './database.ts'
import { ask, type Json } from './http.ts'
import { openLink } from './link.ts'
import { type Program, startProgram, temporaryFolder } from './program.ts'
import { databaseProxy } from './proxy.ts'
import { eventually, type TestProject, type TestService } from './service.ts'

const program = join(import.meta.dirname, 'gateway-node.ts')
const headers = { 'x-service-project-id': 'shop', 'x-service-api-key': 'svc_sk_outage' }

/**
 * Nodes in separate processes behind one link to the database, with one simulated APNs behind another that responds
 * after `latencyMs`. Only the simulator counts the pushes that arrived.
 */
export async function outage(
  t: TestContext,
  { nodes, people, latencyMs }: Record<'nodes' | 'people' | 'latencyMs', number>,
  more: Record<string, string> = {}
) {
  const sim = await simulator(t, { ledgerSize: 500_000 })
  sim.faults.set('apns', { latencyMs })
  const { url } = await emptyDatabase(t)
  const proxy = await databaseProxy(url)
  const apns = new URL(sim.apns!.url)
  const gatewayLink = await openLink({ port: Number(apns.port), host: apns.hostname })
  t.after(gatewayLink.close)
  apns.port = String(gatewayLink.port)
  const gateway = apnsCredential(sim, { origin: apns.origin })
  const env = {
    DATABASE_URL: proxy.url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_PROJECT_ID: 'shop',
    BOOTSTRAP_SECRET_KEY: headers['x-service-api-key'],
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_outage',
    SHUTDOWN_SECONDS: '2',
    GATEWAY: JSON.stringify(gateway),
    ...more
  }
  let started = 0
  /** Each node has its own, so that the ledger shows which one sent a push. */
  const tokenOf = () => {
    started += 1
    const claims = { iss: gateway.teamId, iat: Math.floor(Date.now() / 1000) - started }
    return signJwt('ES256', createPrivateKey(gateway.privateKey), { kid: gateway.keyId }, claims)
  }
  const folders = new Map<Program, string>()
  /** `before`: the node that it replaces on its machine. */
  const start = async (before?: Program): Promise<Program> => {
    const folder = (before && folders.get(before)) ?? (await temporaryFolder(t))
    const started = startProgram(t, { TOKEN: tokenOf(), ...env, DATA_DIR: folder }, [process.execPath, program])
    folders.set(started, folder)
    return started
  }
  const sql = async (text: string, values?: unknown[]): Promise<Json[]> =>
    (await withClient(url, (client) => client.query(text, values))).rows
  const running = [await start()]
  const first = await running[0]!.ready
  while (running.length < nodes) running.push(await start())
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  const authorization = 'Bearer svc_at_outage'
  const saved = await ask(first, 'PUT', '/manage/v1/projects/shop/campaigns/news', {
    json: { name: 'News', status: 'active', message: { title: 'Hi' } },
    headers: { authorization }
  })
  assert.equal(saved.status < 300, true, saved.text)
  const urls = await Promise.all(running.map(({ ready }) => ready))
  const arrived = () => sim.ledger.items({ gateway: 'apns' })

  return {
    running,
    urls,
    start,
    sql,
    proxy,
    gatewayLink,
    arrived,
    /** The number of times that each message arrived, by its collapse id and device token. */
    repeated: () =>
      [
        ...Map.groupBy(arrived(), (item) => `${item.request.headers['apns-collapse-id']} ${item.token}`).entries()
      ].filter(([, items]) => items.length > 1),
    post: (base: string, path: string, json: Json, key?: string) =>
      ask(base, 'POST', `/api/v1${path}`, { json, headers: { ...headers, ...(key && { 'idempotency-key': key }) } }),
    /** All messages have ended, and were accepted. */
    settled: (count: number, withinMs: number) =>
      eventually(async () => {
        const [row] = await sql(
          `select count(*)::int as all, count(*) filter (where state = 'accepted')::int as accepted from messages`
        )
        assert.deepEqual([row.all, row.accepted], [count, count])
      }, withinMs)
  }
}

export const toDevices = (from: number, count: number) => ({
  push_notifications: Array.from({ length: count }, (_, n) => ({ target: { device_id: `p-${from + n}` }, title: 'Hi' }))
})

import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import type { TestContext } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import webpush from 'web-push'
import { openPool } from '../../src/platform/db/db.ts'
import { createListener } from '../../src/platform/db/listen.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createSimulators, type DevicesOf, type SimulatedGateways } from '../../src/simulator/simulator.ts'
import { silentLog } from '../support/log.ts'
import type { TestService } from '../support/service.ts'
import { connect, request, seconds } from './client.ts'
import { post } from './post.ts'

/** The simulators of another process, which shares only the database with the service. */
export function anotherNode(
  t: TestContext,
  service: TestService,
  { deaf = false, ...options }: { most?: number; devicesOf?: DevicesOf; deaf?: boolean } = {}
) {
  const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 4)
  const listener = createListener(pool, silentLog)
  const simulators = createSimulators({
    pool,
    // A node that receives no notification must reach the same state a little later.
    listener: deaf ? { ...listener, on() {} } : listener,
    log: silentLog,
    key: service.config.MASTER_KEY!,
    devicesOf: async () => new Map(),
    ...options
  })
  t.after(async () => {
    await simulators.close()
    await listener.close()
    await pool.close()
  })
  return simulators
}

export const of = (simulators: ReturnType<typeof anotherNode>, id: string) => simulators.of(id as ProjectId)

/** An alert by plain node:http2, signed by jose. */
export async function pushApns(
  t: TestContext,
  { ca, apns }: SimulatedGateways,
  token: string,
  title: string,
  more: object = {}
) {
  const jwt = await new SignJWT({ iss: apns.teamId, iat: seconds() })
    .setProtectedHeader({ alg: 'ES256', kid: apns.keyId })
    .sign(await importPKCS8(apns.privateKey, 'ES256'))
  const session = await connect(t, apns.origin, ca)
  const headers = { authorization: `bearer ${jwt}`, 'apns-topic': apns.topic, 'apns-push-type': 'alert' }
  const body = JSON.stringify({ aps: { alert: { title, body: 'World' } }, ...more })
  const reply = await request(session, `/3/device/${token}`, headers, body)
  session.close()
  return reply
}

/** The address of the subscription is replaced by that of this process; all else is as for a real one. */
export async function pushWeb(
  { ca, webpush: { origin, ...keys } }: SimulatedGateways,
  subscription: string,
  payload: object
) {
  const { endpoint, keys: theirs } = JSON.parse(subscription)
  assert.ok(endpoint.startsWith('https://simulator.invalid/push/'))
  const agent = new Agent({ ca })
  try {
    const there = { endpoint: endpoint.replace('https://simulator.invalid', origin), keys: theirs }
    return await webpush.sendNotification(there, JSON.stringify(payload), { vapidDetails: keys, agent, TTL: 60 })
  } finally {
    agent.destroy()
  }
}

export async function accessToken({ ca, fcm }: SimulatedGateways): Promise<string> {
  const assertion = await new SignJWT({
    iss: fcm.clientEmail,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: fcm.tokenUri,
    iat: seconds(),
    exp: seconds() + 3_600
  })
    .setProtectedHeader({ alg: 'RS256', kid: fcm.privateKeyId })
    .sign(await importPKCS8(fcm.privateKey, 'RS256'))
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  return JSON.parse(
    (await post(fcm.tokenUri, ca, { 'content-type': 'application/x-www-form-urlencoded' }, String(form))).text
  ).access_token
}

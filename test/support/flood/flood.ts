import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { OpenApi } from '../../../src/platform/http/openapi/openapi.ts'
import { startChild } from '../children.ts'
import { createDatabase, databaseUrl, dropDatabase, withClient } from '../database.ts'
import { ask, type Json } from '../http.ts'
import { throughPooler } from '../pooled.ts'
import { temporaryFolder } from '../program.ts'
import type { Chance } from './chance.ts'
import { harvester } from './harvest.ts'
import { inWords, type Memory, mb } from './memory.ts'
import { type Route, requestMaker, routesOf, type WildRequest } from './requests.ts'
import { type WireReply, wireClient } from './wire.ts'
import { type Known, marker, type World, worldMaker } from './world.ts'

const program = join(import.meta.dirname, 'node.ts')
const adminToken = 'svc_at_flood'
/** Requests at the same time. */
const clients = 16
/** After so many requests they go to a fresh project, because they wear out what they find. */
const wornAfter = 4_000
const pauseEach = 500
/** A run of more requests takes long: it tells how it goes on. */
const longRun = 100_000
const sampledAtLeastEach = 50_000

type Sample = Memory & { at: number }

/** Starts a node in a separate process, whose log is kept. */
async function startFlooded(t: TestContext) {
  const name = await createDatabase('migrated')
  t.after(() => dropDatabase(name))
  const child = startChild(t, process.execPath, ['--expose-gc', program], {
    env: {
      ...process.env,
      PORT: '0',
      DATA_DIR: await temporaryFolder(t),
      ...throughPooler({ DATABASE_URL: databaseUrl(name) }),
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BOOTSTRAP_ADMIN_TOKEN: adminToken,
      SHUTDOWN_SECONDS: '2'
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  let log = ''
  child.stderr!.on('data', (chunk) => {
    log += chunk
  })
  const [{ port, routes }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(log)
    })
  ])) as [{ port: number; routes: string[] }]
  const question = async (what: string): Promise<Json> => {
    child.send(what)
    return (await once(child, 'message'))[0]
  }
  return {
    child,
    port,
    routes,
    url: `http://127.0.0.1:${port}`,
    log: () => log.split('\n').filter(Boolean),
    memory: (): Promise<Memory> => question('memory'),
    idle: () => question('idle'),
    sql: async (text: string, values?: unknown[]): Promise<Json[]> =>
      (await withClient(databaseUrl(name), (client) => client.query(text, values))).rows
  }
}

const shown = ({ bytes, caller }: WildRequest) =>
  `${caller.name}: ${bytes.length} bytes ${JSON.stringify(bytes.toString('latin1').slice(0, 1_500))}`
const inner =
  /\n\s+at .+:\d+:\d+|node_modules|syntax error at or near|invalid byte sequence|duplicate key value|violates/

/** What is wrong with a response, whatever the request was. */
function faultOf(request: WildRequest, reply: WireReply | undefined): string | undefined {
  if (!reply)
    return request.broken || request.method === 'CONNECT' ? undefined : 'the connection ended without a response'
  const { status, text, headers } = reply
  if (status >= 500 || status < 200) return `${status} ${text.slice(0, 300)}`
  if (!request.caller.everywhere && text.includes(marker)) return `data of another project: ${text.slice(0, 500)}`
  if (status >= 400 && inner.test(text)) return `words of an inner part: ${text.slice(0, 500)}`
  // The docs name the code too, in text and Markdown.
  const isAnswer = /json|event-stream/.test(headers.get('content-type') ?? '')
  if (isAnswer && text.includes('-32603')) return `an internal error: ${text.slice(0, 300)}`
  return headers.has('x-request-id') ? undefined : `no X-Request-ID: ${status}`
}

/** What the responses said, over all requests. */
function tallyOf(routes: Route[]) {
  const statuses = new Map<number, number>()
  const asked = new Set<string>()
  const succeeded = new Set<string>()
  const names = routes.map(({ method, url }) => `${method} ${url}`)
  return {
    faults: [] as string[],
    slowestMs: 0,
    count({ route, method }: WildRequest, reply: WireReply | undefined): void {
      const name = `${route.method} ${route.url}`
      asked.add(name)
      if (!reply) return
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      if (reply.status < 400 && method === route.method) succeeded.add(name)
    },
    missed: () => names.filter((name) => !asked.has(name)),
    /** The routes that no request used with success. */
    refused: () => names.filter((name) => !succeeded.has(name)),
    statuses: () => [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  }
}

/** Sends the requests, and returns all that was wrong. */
export async function flood(t: TestContext, { requests, chance }: { requests: number; chance: Chance }) {
  const node = await startFlooded(t)
  const maker = worldMaker(node.url, adminToken)
  const hidden: Known = await maker.hidden()
  const hiddenRows = () => rowsOf(node.sql, hidden.get('project_id')![0]!)
  await node.idle()
  const before = await hiddenRows()
  const document: OpenApi = (await ask(node.url, 'GET', '/openapi-complete.json')).json
  const routes = routesOf(node.routes, document)
  const make = requestMaker(routes, hidden, chance)
  const harvest = harvester(node.routes)
  const tally = tallyOf(routes)
  const samples: Sample[] = []
  const sampleEach = Math.min(sampledAtLeastEach, pauseEach * Math.ceil(requests / 20 / pauseEach))
  let world: World = await maker.fresh()
  const beganAt = Date.now()
  let sent = 0
  let pausing: Promise<void> | undefined

  /** Between requests, with none in flight elsewhere for long: measures, and makes a fresh project. */
  async function pause(at: number): Promise<void> {
    if (at % wornAfter === 0) world = await maker.fresh()
    if (at % sampleEach !== 0) return
    const sample = { ...(await node.memory()), at }
    samples.push(sample)
    const seconds = Math.round((Date.now() - beganAt) / 1_000)
    if (requests > longRun) console.log(`${at} requests after ${seconds} s, in MB: ${inWords(sample)}`)
  }
  async function one(wire: ReturnType<typeof wireClient>): Promise<void> {
    const request = make(world)
    const asWas = world
    const beganAt = performance.now()
    const reply = await wire.ask(request).catch((error: Error) => error)
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - beganAt)
    const fault = reply instanceof Error ? reply.message : faultOf(request, reply)
    if (fault) tally.faults.push(`${fault}\n${shown(request)}`)
    if (reply instanceof Error) return
    tally.count(request, reply)
    if (reply) harvest(request, reply, asWas)
  }
  async function client(): Promise<void> {
    const wire = wireClient(node.port)
    while (sent < requests && tally.faults.length < 20 && node.child.exitCode === null) {
      sent += 1
      if (sent % pauseEach === 0) pausing = pause(sent)
      await pausing
      await one(wire)
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (Date.now() - beganAt) / 1000
  if (node.child.exitCode !== null) tally.faults.push(`the node ended:\n${node.log().slice(-5).join('\n')}`)
  else if (!isDeepStrictEqual(await hiddenRows(), before)) tally.faults.push('the hidden project has changed')
  return {
    faults: tally.faults,
    logged: node.log().filter((line) => /"level":[56]0|unhandled/i.test(line)),
    missed: tally.missed(),
    refused: tally.refused(),
    routes: routes.length,
    samples,
    report: [
      `${sent} requests to ${routes.length} routes in ${seconds.toFixed(0)} s: ${Math.round(sent / seconds)} a second, the slowest ${Math.round(tally.slowestMs)} ms`,
      `responses: ${tally.statuses().join(', ')}`,
      `memory after a collection (heap, malloc, RSS in MB): ${samples.map(({ at, heap, malloc, rss }) => `${at}: ${mb(heap)}, ${mb(malloc)}, ${mb(rss)}`).join('; ')}`
    ]
  }
}

/** The number of rows of a project in each table. */
async function rowsOf(sql: (text: string, values?: unknown[]) => Promise<Json[]>, id: string) {
  const tables = [
    'users',
    'devices',
    'campaigns',
    'saved_segments',
    'topics',
    'webhooks',
    'api_keys',
    'triggers',
    'messages'
  ]
  const counts = await Promise.all(
    tables.map(async (table) => [
      table,
      (await sql(`select count(*)::int as n from ${table} where project_id = $1`, [id]))[0].n
    ])
  )
  return Object.fromEntries(counts)
}

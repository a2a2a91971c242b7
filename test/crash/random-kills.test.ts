import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { eventually } from '../support/eventually.ts'
import { type Arrival, repeated, startGateway } from '../support/mixed/gateway.ts'
import { seeded, startLoad } from '../support/mixed/load.ts'
import { furnish, type MixedNode, mixedNodes } from '../support/mixed/nodes.ts'
import { assertNothingLost, settled } from '../support/mixed/verdict.ts'
import { descendantsOf } from '../support/processes.ts'
import { temporaryFolder } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'

// TIDINGS_LONG=1 kills for ten minutes, or for TIDINGS_SECONDS. TIDINGS_SEED repeats the choices of a run, and
// TIDINGS_DETAILS prints them.
const long = Boolean(process.env.TIDINGS_LONG)
const killingMs = process.env.TIDINGS_SECONDS ? Number(process.env.TIDINGS_SECONDS) * 1_000 : long ? 600_000 : 40_000
/** Between two blows. In the long mode the share of doubled pushes counts, which depends on it. */
const pauseMs = long ? { least: 3_000, more: 6_000 } : { least: 1_000, more: 4_000 }
const seed = Number(process.env.TIDINGS_SEED ?? Date.now() % 1_000_000)
const people = 300
const latencyMs = 5
/** Far less than the time after which other nodes take over the messages of a silent one. */
const longestStopMs = 4_000

/** A push that a node wrote just before it was killed arrives a moment later, and one that had just arrived got no response. */
const wireMs = 2_000

const cutOff = 'cut of the gateway'

/** What was done to the parts, with its time. */
interface Blow {
  at: number
  until: number
  what: string
  /** The node, if it was one. */
  node?: string
}

it('random kills of nodes, workers, PostgreSQL and gateway connections lose nothing, and double only what a killed process could not record', async (t) => {
  t.diagnostic(`the seed is ${seed}`)
  const random = seeded(seed)
  const server = await ownServer(t)
  const gateway = await startGateway(t, latencyMs)
  const receiver = await startReceiver({ secure: false })
  t.after(() => receiver.close())
  const { start, sql } = mixedNodes(t, { database: server.url, gateway })
  const nodes: MixedNode[] = [await start('api')]
  nodes.push(...(await Promise.all([start('api'), start('worker'), start('worker')])))
  const inSeconds = (seconds: number) => new Date(Math.ceil(Date.now() / 1_000 + seconds) * 1_000)
  const occurrences = [0.2, 0.5, 0.8].map((share) => inSeconds(5 + (share * killingMs) / 1_000))
  await furnish(nodes[0]!.url, { people, receiver, sql, occurrences })
  const urls = () => nodes.filter(({ role }) => role === 'api').map(({ url }) => url)
  const load = startLoad({ urls, random, clients: 8, people, broadcastEveryMs: 2_000, pauseMs: long ? 20 : 100 })

  const blows: Blow[] = []
  const restarting = new Set<Promise<void>>()
  const parts = { random, nodes, server, gateway, start, restarting }
  for (const untilMs = Date.now() + killingMs; Date.now() < untilMs; ) {
    await sleep(pauseMs.least + random() * pauseMs.more)
    blows.push(await strike(parts))
  }
  await Promise.all(restarting)
  await load.stop()
  await settled({ sql }, 120_000)
  const told = { sql, url: urls()[0]!, asked: load.all, arrivals: gateway.arrivals, receiver, people }
  report(t, load, gateway.arrivals(), blows)
  await assertNothingLost({ ...told, occurrences: occurrences.length })
  assert.deepEqual(load.surprises, [])
  assertDoublesExplained(gateway.arrivals(), blows)
})

interface Parts {
  random: () => number
  /** The nodes that run. */
  nodes: MixedNode[]
  server: Awaited<ReturnType<typeof ownServer>>
  gateway: Awaited<ReturnType<typeof startGateway>>
  start: ReturnType<typeof mixedNodes>['start']
  restarting: Set<Promise<void>>
}

async function strike({ random, nodes, server, gateway, start, restarting }: Parts): Promise<Blow> {
  const node = nodes[Math.floor(random() * nodes.length)]
  const at = Date.now()
  const chance = random()
  if (chance < 0.3 && node) {
    nodes.splice(nodes.indexOf(node), 1)
    process.kill(node.program.pid, 'SIGKILL')
    const back = (async () => {
      await sleep(random() * 3_000)
      // As a supervisor does: a start that met a database without a primary ends, and is repeated.
      nodes.push(await eventually(() => start(node.role), 120_000))
    })()
    restarting.add(back)
    back.catch(() => {})
    return { at, until: at, what: 'kill -9', node: node.name }
  }
  if (chance < 0.55 && node) {
    process.kill(node.program.pid, 'SIGSTOP')
    await sleep(500 + random() * (longestStopMs - 500))
    process.kill(node.program.pid, 'SIGCONT')
    return { at, until: Date.now(), what: 'SIGSTOP', node: node.name }
  }
  if (chance < 0.75) return { at, until: at, what: server.strike(random) }
  gateway.cut()
  await sleep(200 + random() * 1_500)
  gateway.mend()
  return { at, until: Date.now(), what: cutOff }
}

/** A PostgreSQL of this test, which starts again when it dies. Nodes know it as DATABASE_URL. */
async function ownServer(t: TestContext) {
  const dataDir = await temporaryFolder(t)
  // A PostgreSQL that stays away leaves no other trace: its folder is deleted with the test.
  const said: string[] = []
  t.after(() => said.forEach((line) => void t.diagnostic(line)))
  const say = (line: string) => said.push(`${new Date().toISOString()} ${line}`)
  const { url, stop, exited } = await startEmbedded({ dataDir, say })
  void exited.then(() => say('It is not started again.'))
  t.after(stop)
  const first = () => Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  return {
    url,
    strike(random: () => number): string {
      // One back end that is killed makes PostgreSQL end all of them and recover.
      const back = descendantsOf(first()).filter(({ command }) => /: tidings tidings /.test(command))
      if (random() < 0.5 && back.length > 0) {
        process.kill(back[Math.floor(random() * back.length)]!.pid, 'SIGKILL')
        return 'kill -9 of a back end'
      }
      process.kill(first(), 'SIGQUIT')
      return 'immediate stop of PostgreSQL'
    }
  }
}

function report(t: TestContext, load: ReturnType<typeof startLoad>, arrivals: Arrival[], blows: Blow[]): void {
  const kinds = Map.groupBy(load.all, ({ kind }) => kind)
  const list = (groups: Map<string | number, unknown[] | number>) =>
    [...groups].map(([name, many]) => `${name} ${Array.isArray(many) ? many.length : many}`).join(', ')
  t.diagnostic(`blows: ${list(Map.groupBy(blows, ({ what }) => what))}`)
  t.diagnostic(`requests: ${list(kinds)}; responses: ${list(load.statuses)}`)
  const { killed, cut, unexplained } = causesOf(arrivals, blows)
  t.diagnostic(
    `${arrivals.length} pushes arrived; again: ${killed.length} of killed nodes, ${cut.length} after cut connections, ` +
      `${unexplained.length} without a cause`
  )
  if (process.env.TIDINGS_DETAILS) {
    for (const blow of blows) t.diagnostic(JSON.stringify(blow))
    const shape = (same: Arrival[]) =>
      `${same[0]!.title.slice(0, 1)} ${same.map(({ node, at }) => `${node}@${Math.round(at / 1000)}`).join(' ')}`
    t.diagnostic(list(Map.groupBy(repeated(arrivals), shape)))
    const killsMs = (same: Arrival[]) => {
      const [first] = inOrder(same)
      const kill = blows.find(({ what, node }) => what === 'kill -9' && node === first.node)
      return `${first.node} after ${Math.round((kill!.at - first.at) / 50) * 50} ms:`
    }
    t.diagnostic(`killed ${list(Map.groupBy(killed, killsMs))}`)
  }
}

const inOrder = (same: Arrival[]) => same.toSorted((one, other) => one.at - other.at) as [Arrival, Arrival]

/**
 * Why pushes arrived again. A killed node had not read the response: what it had read is in its journal. The response
 * of a cut connection is lost, and no process can know what became of the push.
 */
function causesOf(arrivals: Arrival[], blows: Blow[]) {
  const isKill = ([first, second]: [Arrival, Arrival]) =>
    blows.some(
      ({ at, what, node }) =>
        what === 'kill -9' && node === first.node && Math.abs(at - first.at) <= wireMs && at <= second.at
    )
  const isCut = ([first]: [Arrival, Arrival]) =>
    blows.some(({ at, until, what }) => what === cutOff && first.at >= at - wireMs && first.at <= until + wireMs)
  const causes = { killed: [] as Arrival[][], cut: [] as Arrival[][], unexplained: [] as Arrival[][] }
  for (const same of repeated(arrivals)) {
    const [first, second] = inOrder(same)
    causes[isCut([first, second]) ? 'cut' : isKill([first, second]) ? 'killed' : 'unexplained'].push(same)
  }
  return causes
}

function assertDoublesExplained(arrivals: Arrival[], blows: Blow[]): void {
  const { killed, unexplained } = causesOf(arrivals, blows)
  assert.deepEqual(unexplained, [], 'these pushes arrived again without a cause')
  // The share is the time that a push is with the gateway, divided by the time between two kills of its node. One kill in
  // the middle of a broadcast doubles 200 on a busy machine, so these bounds are wide: docs/decisions/0067 has figures.
  assert.ok(
    killed.length * (long ? 100 : 20) < arrivals.length,
    `${killed.length} of ${arrivals.length} pushes arrived again`
  )
}

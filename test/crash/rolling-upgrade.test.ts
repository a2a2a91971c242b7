import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMigrations } from '../../src/platform/db/migrations.ts'
import { emptyDatabase } from '../support/database.ts'
import { ask } from '../support/http.ts'
import { type Earlier, earlierCode, startsBeside } from '../support/mixed/earlier.ts'
import { repeated, startGateway } from '../support/mixed/gateway.ts'
import { adminToken, seeded, startLoad } from '../support/mixed/load.ts'
import { furnish, type MixedNode, mixedNodes } from '../support/mixed/nodes.ts'
import { assertNothingLost, settled } from '../support/mixed/verdict.ts'
import { startReceiver } from '../support/receiver.ts'

// TIDINGS_LONG=1 gives each step a minute.
const stepMs = process.env.TIDINGS_LONG ? 60_000 : 3_000
const people = 100

it('an upgrade node by node, and the way back, lose nothing, send nothing twice and answer no request with 5xx', async (t) => {
  const earlier = await earlierCode(t)
  t.diagnostic(`the earlier code is ${earlier.name}`)
  const { url: database } = await emptyDatabase(t)
  const gateway = await startGateway(t, 5)
  const receiver = await startReceiver({ secure: false })
  t.after(() => receiver.close())
  const { start, sql } = mixedNodes(t, { database, gateway })
  const nodes = [await start('all', earlier.folder)]
  nodes.push(await start('all', earlier.folder))
  const before = await applied(sql)
  const occurrences = [1, 3].map((steps) => new Date(Math.ceil((Date.now() + 3_000 + steps * stepMs) / 1_000) * 1_000))
  await furnish(nodes[0]!.url, { people, receiver, sql, occurrences })
  const urls = () => nodes.map(({ url }) => url)
  const load = startLoad({ urls, random: seeded(1), clients: 4, people, broadcastEveryMs: 1_000, pauseMs: 150 })
  const visits = browse(urls)

  await sleep(stepMs)
  // The first new node migrates while the earlier ones are at work.
  nodes.push(await start('all'))
  assert.equal((await applied(sql)).length, readMigrations().length)
  t.diagnostic(`new migrations: ${(await applied(sql)).filter((name) => !before.includes(name)).join(', ')}`)
  await sleep(stepMs)
  await drain(nodes, 0)
  nodes.push(await start('all'))
  await drain(nodes, 0)
  await sleep(stepMs)
  if (await goesBack(earlier, start, nodes)) {
    await sleep(stepMs)
    await drain(nodes, 0)
    await sleep(stepMs)
  } else t.diagnostic('the earlier code knows no newer schema, and says so when it starts')

  await visits.stop()
  await load.stop()
  await settled({ sql }, 60_000)
  const told = { sql, url: nodes[0]!.url, asked: load.all, arrivals: gateway.arrivals, receiver, people }
  await assertNothingLost({ ...told, occurrences: occurrences.length })
  t.diagnostic(`${load.all.length} requests, ${visits.count()} pages, ${gateway.arrivals().length} pushes`)
  assert.deepEqual([...load.statuses.keys()], [200], load.surprises.join('\n'))
  assert.deepEqual(visits.failed, [])
  assert.deepEqual(repeated(gateway.arrivals()), [])
})

const applied = async (sql: (text: string) => Promise<{ name: string }[]>) =>
  (await sql('select name from migrations order by id')).map(({ name }) => name)

/** Takes a node out of the load balancer, then stops it. */
async function drain(nodes: MixedNode[], index: number): Promise<void> {
  const [node] = nodes.splice(index, 1)
  // Requests that chose this node a moment ago are on their way.
  await sleep(200)
  node!.program.child.kill('SIGTERM')
  assert.equal((await node!.program.exited).code, 0, node!.program.stderr())
}

/** Starts the earlier code again on the new schema, beside a new node. */
async function goesBack(
  { folder }: Earlier,
  start: ReturnType<typeof mixedNodes>['start'],
  nodes: MixedNode[]
): Promise<boolean> {
  if (startsBeside(folder)) {
    nodes.push(await start('all', folder))
    return true
  }
  await assert.rejects(start('all', folder), /migrated by a newer version of Tidings/)
  return false
}

/** A signed-in browser that opens pages on every node. */
function browse(urls: () => string[]) {
  const failed: string[] = []
  let [running, count] = [true, 0]
  const visiting = (async () => {
    const signedIn = await ask(urls()[0]!, 'POST', '/console/session', { json: { token: adminToken } })
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
    for (; running; await sleep(250))
      for (const path of ['/console/session', '/manage/v1/projects/shop/users', '/manage/v1/projects/shop/campaigns'])
        for (const url of urls()) {
          const reply = await ask(url, 'GET', path, { headers: { cookie } }).catch((error: Error) => error)
          count += 1
          // A node that was taken out meanwhile may refuse a connection.
          if (reply instanceof Error ? urls().includes(url) : reply.status !== 200)
            failed.push(`${path}: ${reply instanceof Error ? reply.message : `${reply.status} ${reply.text}`}`)
        }
  })()
  visiting.catch(() => {})
  return {
    failed,
    count: () => count,
    async stop(): Promise<void> {
      running = false
      await visiting
    }
  }
}

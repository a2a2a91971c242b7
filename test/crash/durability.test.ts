import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http.ts'
import { processesOf, startProgram, temporaryFolder } from '../support/program.ts'

// `npm run test:long` kills a hundred times.
const rounds = process.env.TIDINGS_LONG ? 100 : 3
const clients = 32
const roundMs = 400

it('every acknowledged write survives kill -9 of the service, again and again, while 32 clients write', async (t) => {
  const dataDir = await temporaryFolder(t)
  const acknowledged = new Map<string, number>()
  let refused = 0

  for (let round = 0; round < rounds; round += 1) {
    const program = startProgram(t, { DATA_DIR: dataDir })
    const url = await program.ready
    const { project_id, secret_key } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
    const headers = { 'x-service-project-id': project_id, 'x-service-api-key': secret_key }
    if (round === 0) await withoutLimit(url, dataDir, project_id)
    let writing = true

    async function client(number: number): Promise<void> {
      for (let count = 0; writing; count += 1) {
        const id = `u${number}-${round}-${count % 50}`
        const value = round * 1_000_000 + count
        const reply = await ask(url, 'POST', '/api/v1/users', {
          json: { project_user_id: id, properties: { value } },
          headers
        }).catch(() => undefined)
        if (reply?.status === 200) acknowledged.set(id, value)
        else if (reply) refused += 1
      }
    }

    const work = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
    // However slow the machine is, the kill meets a service at work.
    const before = acknowledged.size
    await new Promise((resolve) => setTimeout(resolve, roundMs))
    await eventually(() => assert.ok(acknowledged.size >= before + 2 * clients), 30_000)
    program.child.kill('SIGKILL')
    writing = false
    await program.exited
    await work
  }

  assert.ok(acknowledged.size > rounds * clients, `only ${acknowledged.size} writes were acknowledged`)
  assert.equal(refused, 0, 'no write was answered with an error')
  const program = startProgram(t, { DATA_DIR: dataDir })
  const url = await program.ready
  const { project_id, admin_token } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
  const exported = await ask(url, 'GET', `/manage/v1/projects/${project_id}/users:export`, {
    headers: { authorization: `Bearer ${admin_token}` }
  })
  const stored = new Map(
    exported.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((user) => [user.project_user_id, user.properties.value])
  )
  // A write in flight when the process died may be stored too, so a stored value may be newer.
  const lost = [...acknowledged].filter(([id, value]) => !(stored.get(id) >= value))
  assert.deepEqual(lost, [])
  t.diagnostic(`${acknowledged.size} users acknowledged over ${rounds} kills, none lost`)
  program.child.kill('SIGTERM')
  assert.equal((await program.exited).code, 0)
  await eventually(() => assert.deepEqual(processesOf(dataDir), []))
})

async function withoutLimit(url: string, dataDir: string, projectId: string): Promise<void> {
  const { admin_token } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
  const headers = { authorization: `Bearer ${admin_token}` }
  const reply = await ask(url, 'PATCH', `/manage/v1/projects/${projectId}`, {
    json: { limits: { requests_per_second: 0 } },
    headers
  })
  assert.equal(reply.status, 200)
}

// Clients that other people wrote, as they are published (`npm run test:clients`). Each is installed into a folder of its
// own, and its unmodified code holds one conversation. The table goes into docs/reference/agent-clients.md.
import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { triggered } from '../support/campaigns.ts'
import { root, startProgram } from '../support/program.ts'
import { startService } from '../support/service.ts'
import { givenSpring } from '../support/walk.ts'
import { type Client, printMatrix, readClients, steps, versionOf } from './matrix.ts'

interface Step {
  name: string
  passed: boolean
  seen: string
  missing: string[]
}

const installs = process.env.TIDINGS_CLIENTS_DIR ?? join(homedir(), '.cache', 'tidings-clients')
const installMs = 400_000
const walkMs = 120_000
const here = import.meta.dirname
const clients = await readClients()
const wanted = process.env.CLIENT === undefined ? clients : clients.filter(({ name }) => name === process.env.CLIENT)
const found: Client[] = []
const service = await startService()

describe('clients in the wild', () => {
  for (const client of wanted) {
    it(`${client.name} ${versionOf(client)} passes the steps that it can`, async (t) => {
      const folder = await installed(t, client)
      const walked = await walk(t, client, folder)
      const passed = walked.filter((step) => step.passed).map(({ name }) => name)
      found.push({ ...client, passes: passed })
      const failed = walked.filter((step) => !step.passed && client.passes.includes(step.name))
      assert.deepEqual(passed, client.passes, JSON.stringify(failed, null, 2))
    })
  }
})

after(async () => {
  if (found.length < clients.length) return
  const matrix = printMatrix(found)
  console.log(matrix)
  await writeFile(join(root, 'docs/reference/agent-clients.md'), matrix)
})

/** Installs without scripts, once for each set of versions. */
async function installed(t: TestContext, { packages, legacyPeers = false }: Client): Promise<string> {
  const [[name, version]] = Object.entries(packages) as [[string, string]]
  const folder = join(installs, `${name}-${version}`.replace(/[^\w.-]+/g, '-'))
  const mark = join(folder, 'installed.json')
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: packages })
  if ((await readFile(mark, 'utf8').catch(() => '')) === manifest) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), manifest)
  const options = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-save',
    ...(legacyPeers ? ['--legacy-peer-deps'] : [])
  ]
  const npm = startProgram(t, {}, ['npm', 'install', '--prefix', folder, ...options])
  const ended = await Promise.race([npm.exited, sleep(installMs, undefined, { ref: false })])
  assert.equal(ended?.code, 0, `npm install of ${name} ${ended ? 'failed' : 'took too long'}:\n${npm.stderr()}`)
  await writeFile(mark, manifest)
  return folder
}

/** The conversation of one client with a project of its own, in a process of its own. */
async function walk(t: TestContext, { program }: Client, folder: string): Promise<Step[]> {
  const project = await givenSpring(service)
  const before = await triggered(project, { audience: { targets: [{ project_user_id: 'ana' }] } }, 'spring')
  for (const file of await readdir(join(here, 'programs')))
    await copyFile(join(here, 'programs', file), join(folder, file))
  await copyFile(join(here, 'programs', `${program}.mjs`), join(folder, 'program.mjs'))
  await copyFile(join(here, 'walk.mjs'), join(folder, 'walk.mjs'))
  const result = join(folder, 'result.json')
  await writeFile(result, '[]')
  const env = { BASE_URL: service.url, SECRET_KEY: project.secretKey, TRIGGER_ID: before, RESULT_FILE: result }
  const child = startProgram(t, env, [process.execPath, join(folder, 'walk.mjs')])
  await Promise.race([child.exited, sleep(walkMs, undefined, { ref: false })])
  const walked: Step[] = JSON.parse(await readFile(result, 'utf8'))
  if (process.env.CLIENT !== undefined) console.log(JSON.stringify(walked, null, 2))
  if (walked.length === 0) console.log(child.stderr())
  const broadcasts = (await project.call('GET', '/api/v1/triggers')).json.items.length - 1
  const confirmed = walked.some(({ name, passed }) => name === 'broadcast' && passed)
  assert.equal(broadcasts, confirmed ? 1 : 0, 'a client that saw a broadcast made one, and the others none')
  assert.deepEqual(
    walked.map(({ name }) => name).filter((name) => !steps.includes(name)),
    []
  )
  return walked
}

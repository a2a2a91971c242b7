import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { endChild } from './children.ts'
import { throughPooler } from './pooled.ts'
import { environmentOf, livingProcesses } from './processes.ts'

export const root = resolve(import.meta.dirname, '../..')

export interface Program {
  child: ChildProcess
  pid: number
  stdout(): string
  stderr(): string
  /** Resolves with the base URL once the service reports that it is ready. */
  ready: Promise<string>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** A folder that is deleted with the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Starts the real program as its own process, by `node bin/tidings.js` or by another command line. */
export function startProgram(
  t: TestContext,
  env: Record<string, string>,
  command: string[] = [process.execPath, 'bin/tidings.js', 'serve']
): Program {
  const { TEST_DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(command[0]!, command.slice(1), {
    cwd: root,
    env: { ...inherited, PORT: '0', LOG_LEVEL: 'warn', ...throughPooler(env) },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let [stdout, stderr] = ['', '']
  const ready = Promise.withResolvers<string>()
  child.stdout.on('data', (chunk) => {
    stdout += chunk
    const url = /is ready at (\S+)/.exec(stdout)?.[1]
    if (url) ready.resolve(url)
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    child.on('exit', (code, signal) => done({ code, signal }))
  })
  ready.promise.catch(() => {})
  void exited.then(({ code }) =>
    ready.reject(new Error(`it ended with ${code} before it was ready:\n${stdout}${stderr}`))
  )
  t.after(() => endChild(child))
  return { child, pid: child.pid!, stdout: () => stdout, stderr: () => stderr, ready: ready.promise, exited }
}

/** The address in the line that reports that the service is ready. */
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

/** Pastes a printed line into a shell, as a person would. On a machine without curl, a small script takes its place. */
export async function paste(t: TestContext, line: string): Promise<string> {
  const folder = await temporaryFolder(t)
  const own = `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'curl.ts')}' "$@"\n`
  await writeFile(join(folder, 'curl'), own, { mode: 0o755 })
  const shell = startProgram(t, { PATH: `${process.env.PATH}:${folder}` }, ['sh', '-c', line])
  await shell.exited
  return shell.stdout()
}

/** Every living process whose command line or environment names this folder, from the kernel's own list. */
export function processesOf(folder: string): string[] {
  return livingProcesses()
    .filter(
      ({ pid, command }) => pid !== process.pid && (command.includes(folder) || environmentOf(pid).includes(folder))
    )
    .map(({ pid, command }) => `${pid} ${command}`)
}

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, endByForce, livingProcesses } from './processes.ts'

/** Starts a process that ends with the test, also when the test runs into its limit. */
export function startChild(t: TestContext, command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options)
  child.on('error', () => {}) // Without a listener it would end this process; 'close' follows it.
  t.after(() => endChild(child))
  return child
}

/** Asks a process to end, and ends it by force, with all that it started, where it has not within a while. */
export async function endChild(child: ChildProcess, politeMs = 20_000): Promise<void> {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  if (await Promise.race([exited, sleep(politeMs, undefined, { ref: false })])) return
  endByForce(() => [...livingProcesses().filter((one) => one.pid === pid), ...descendantsOf(pid)])
  await exited
}

/** What a command wrote to its standard output. Throws with its complaints where it fails. */
export async function outputOf(
  t: TestContext,
  command: string,
  args: string[],
  options: SpawnOptions
): Promise<string> {
  const child = startChild(t, command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`)
  return stdout
}

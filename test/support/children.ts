import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, endByForce, livingProcesses } from './processes.ts'

/** Starts a process that ends with the test, also when the test reaches its time limit. */
export function startChild(t: TestContext, command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options)
  child.on('error', () => {}) // Without a listener the error would end this process; 'close' follows it.
  t.after(() => endChild(child))
  return child
}

/** Asks a process to end, and after a while kills it and all processes that it started. */
export async function endChild(child: ChildProcess, politeMs = 20_000): Promise<void> {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  // Descendants are listed before the child ends: npm leaves its shell and the shell's children behind, and they would
  // hold our pipes open.
  const family = new Set([pid, ...descendantsOf(pid).map((one) => one.pid)])
  const living = () => livingProcesses().filter((one) => family.has(one.pid))
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await Promise.race([exited, sleep(politeMs, undefined, { ref: false })])
  for (const untilMs = Date.now() + 2_000; living().length > 0 && Date.now() < untilMs; ) await sleep(50)
  endByForce(living)
  await exited
}

/** The standard output of a command. If it fails, throws with its standard error. */
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

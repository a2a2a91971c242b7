import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentOf } from '../support/usage.ts'

/** The process and all processes below it: services, gateways, PostgreSQL. */
function familyOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      parents.set(Number(name), parentOf(Number(name)))
    } catch {} // It ended meanwhile.
  }
  const family = [pid]
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child)
  return family
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** Stops a process with everything below it: what does not end within ten seconds is killed. */
export async function stopFamily(pid: number): Promise<void> {
  const family = familyOf(pid)
  for (const member of family) signal(member, 'SIGTERM')
  for (let left = 100; left > 0 && family.some((member) => signal(member, 0)); left -= 1) await sleep(100)
  for (const member of family) signal(member, 'SIGKILL')
}

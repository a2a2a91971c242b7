import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { eventually } from './eventually.ts'

// Faults that only the kernel can make: they need Linux and root, and are tried in the long mode.

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })

/** Why the kernel cannot be asked for faults here; undefined if it can. */
export function noKernelFaults(): string | undefined {
  if (!process.env.TIDINGS_LONG) return 'only in the long mode'
  return process.platform === 'linux' && process.getuid?.() === 0 ? undefined : 'needs Linux and root'
}

/** A disk of so many MiB, in memory. Remove it after the processes that use it. */
export function smallDisk(mebibytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-disk-'))
  run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder)
  const remove = () => {
    run('umount', '-l', folder)
    rmdirSync(folder)
  }
  return { folder, remove }
}

/** A group of processes whose memory the kernel limits (cgroup version 2, or version 1 where it has the memory). */
export function memoryGroup(t: TestContext) {
  const unified = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const folder = join(unified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory', `tidings-test-${process.pid}`)
  mkdirSync(folder)
  t.after(() => eventually(() => rmdirSync(folder), 10_000))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    /** The command that runs another one in this group. */
    within: ['sh', '-c', `echo $$ > ${join(folder, 'cgroup.procs')} && exec "$@"`, 'sh'],
    used: () => Number(read(unified ? 'memory.current' : 'memory.usage_in_bytes')),
    limit: (bytes: number) =>
      writeFileSync(join(folder, unified ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes)),
    /** How many processes the kernel has killed for want of memory. */
    kills: () => Number(/oom_kill (\d+)/.exec(read(unified ? 'memory.events' : 'memory.oom_control'))?.[1] ?? 0)
  }
}

/** What the kernel does with packets to and from a port of this machine. */
export type PacketFault = 'dropped' | 'reset' | { lostPercent: number }

const verdictOf = (fault: PacketFault) =>
  fault === 'dropped'
    ? 'drop'
    : fault === 'reset'
      ? 'reject with tcp reset'
      : `numgen random mod 100 < ${fault.lostPercent} drop`

/** Whether this process has a network of its own (`unshare -n`), so that its rules concern no other one. */
export const hasOwnNetwork = () =>
  readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .slice(2)
    .every((line) => line.trim() === '' || line.trim().startsWith('lo:'))

export function packets(port: number) {
  const rules = (text: string): void => void execFileSync('nft', ['-f', '-'], { input: text })
  return {
    set(fault: PacketFault): void {
      const each = ['dport', 'sport'].map((side) => `tcp ${side} ${port} ${verdictOf(fault)}`)
      const lines = ['type filter hook input priority 0;', ...each]
      rules(`table inet tidings_test {\nchain input {\n${lines.join('\n')}\n}\n}\n`)
    },
    mend: () => rules('delete table inet tidings_test')
  }
}

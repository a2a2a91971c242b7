import { readdirSync, readFileSync } from 'node:fs'

// Milliseconds of CPU and the most memory, of processes on this machine, as Linux counts them.

const tickMs = 10

/** The fields of /proc/<pid>/stat after the name, which may hold spaces. */
const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')

export function cpuMs(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

export const mostMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

export const parentOf = (pid: number): number => Number(statOf(pid)[1])

/** Of a process and all its children, also those that have ended. */
export function familyCpuMs(pid: number): number {
  const fields = statOf(pid)
  let sum = fields.slice(11, 15).reduce((total, ticks) => total + Number(ticks), 0) * tickMs
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (parentOf(Number(name)) === pid) sum += cpuMs(Number(name))
    } catch {
      // The process has ended, and its parent counts it.
    }
  }
  return sum
}

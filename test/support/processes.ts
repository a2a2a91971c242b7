import { readdirSync, readFileSync } from 'node:fs'

export interface RunningProcess {
  pid: number
  parent: number
  command: string
}

/** Every living process, from the kernel's own list; none on systems without such a list, such as macOS. */
export function livingProcesses(): RunningProcess[] {
  return pids().flatMap((pid) => {
    try {
      // The name stands in parentheses and may contain some itself; the state and the parent follow it.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return state === 'Z' ? [] : [{ pid, parent: Number(parent), command }]
    } catch {
      return [] // It ended meanwhile.
    }
  })
}

/** The descendants of a process, as far as their parents are alive. */
export function descendantsOf(pid: number, living = livingProcesses()): RunningProcess[] {
  const children = living.filter(({ parent }) => parent === pid)
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, living)])
}

/**
 * The environment that a process was started with, each setting after a NUL; empty for a process of another user or one
 * that has ended.
 */
export function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`
  } catch {
    return ''
  }
}

/** The processes whose environment contains this setting: they inherit it, and keep it when their parents end. */
export const processesWith = (name: string, value: string): RunningProcess[] =>
  livingProcesses().filter(({ pid }) => pid !== process.pid && environmentOf(pid).includes(`\0${name}=${value}\0`))

/** The variable that a lane sets to its process id for the processes that it starts. */
export const laneSetting = 'TIDINGS_TEST_LANE'

/** All processes that a lane has started, in any session, whether or not their parents are alive. */
export function startedBy(lane: number): RunningProcess[] {
  const found = [...descendantsOf(lane), ...processesWith(laneSetting, String(lane))]
  return [...new Map(found.map((one) => [one.pid, one])).values()].filter(({ pid }) => pid !== lane)
}

/** Kills the found processes, and the processes that they start meanwhile. */
export function endByForce(find: () => RunningProcess[]): RunningProcess[] {
  const ended = new Map<number, RunningProcess>()
  for (let round = 0; round < 5; round += 1) {
    const found = find()
    if (found.length === 0) break
    for (const one of found) {
      // One that dies is still listed for a moment, and its command is empty by then.
      if (!ended.has(one.pid)) ended.set(one.pid, one)
      try {
        process.kill(one.pid, 'SIGKILL')
      } catch {} // It ended by itself.
    }
  }
  return [...ended.values()]
}

const pids = () => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'

/** The memory of a process in bytes, after a collection. */
export interface Memory {
  rss: number
  /** What our code keeps: objects, and buffers outside of the heap of V8. */
  heap: number
  arrayBuffers: number
  /** Pages of the heap of V8 that are resident, used or not. */
  pages: number
  /** Resident memory of malloc, with what was freed and not given back. */
  malloc: number
  /** Code and data of files: the program and its libraries. */
  files: number
}

const arena = 64 * 1_048_576

/** Measures this process. The kernel tells which memory is malloc's: its first heap has a name, and its arenas are aligned. */
export function measured(): Memory {
  globalThis.gc!()
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  const { total_physical_size } = getHeapStatistics()
  const parts = { malloc: 0, files: 0 }
  let part: keyof typeof parts | undefined
  let end = 0
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const [, from, to, name = ''] = /^([\da-f]+)-([\da-f]+) \S+ \S+ \S+ \d+\s*(.*)$/.exec(line) ?? []
    if (from && to) {
      const start = Number.parseInt(from, 16)
      const begins = name === '' && start % arena === 0 && Number.parseInt(to, 16) - start <= arena
      if (begins) end = start + arena
      part = name === '[heap]' || (name === '' && start < end) ? 'malloc' : name.startsWith('/') ? 'files' : undefined
    } else if (part && line.startsWith('Rss:')) parts[part] += Number.parseInt(line.slice(4), 10) * 1_024
  }
  return { rss, heap: heapUsed + external, arrayBuffers, pages: total_physical_size, ...parts }
}

export const mb = (bytes: number) => (bytes / 1_048_576).toFixed(0)

/** One measurement as words, in MB. */
export const inWords = ({ rss, heap, arrayBuffers, pages, malloc, files }: Memory): string =>
  `heap ${mb(heap)} (array buffers ${mb(arrayBuffers)}), RSS ${mb(rss)}: V8 ${mb(pages)}, malloc ${mb(malloc)}, files ${mb(files)}`

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/** A start leaves more garbage than anything after it, so the first look is soon. */
const firstMs = 1_000
const laterMs = 30_000
/** The most of the time since the last look that the loop may have worked. Jobs that look for work take about 1 %. */
const mostBusy = 0.1
/** Less than this is not worth the 60 ms that it takes. */
const growth = 16 * 1024 * 1024

/**
 * Gives memory back to the system while nothing happens. V8 keeps the heap of a start or of a past load, because it frees
 * pages only while it allocates: idle, a process had 107 MB and has 74 (record 0072). For programs that own their process:
 * the collector also drops compiled code, and a test beside the service would compile it again.
 */
export function freeIdleMemory(): { close(): void } {
  let seen = performance.eventLoopUtilization()
  let left = 0
  let timer = setTimeout(look, firstMs)
  timer.unref()

  function look(): void {
    const { utilization } = performance.eventLoopUtilization(seen)
    if (utilization < mostBusy && process.memoryUsage().heapTotal - left > growth) {
      collect()
      left = process.memoryUsage().heapTotal
    }
    seen = performance.eventLoopUtilization()
    timer = setTimeout(look, left === 0 ? firstMs : laterMs)
    timer.unref()
  }

  return { close: () => clearTimeout(timer) }
}

/** Node offers no other way to the collector without a flag of its command line. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  const run = runInNewContext('gc') as Collect
  run({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

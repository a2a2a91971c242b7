import { amount, bytes, columnsOf } from './output.ts'
import type { Output } from './shell.ts'

const everyMs = 100
const barWidth = 20

export interface Progress {
  /** Draws the bytes and users so far. */
  at(done: number, users: number): void
  /** Removes the line. */
  end(): void
}

/** Draws one line on a terminal over and over; prints nothing elsewhere. */
export function showProgress(output: Output, verb: string, total?: number): Progress {
  if (!output.isTTY) return { at() {}, end() {} }
  const beganMs = Date.now()
  let shownMs = 0
  return {
    at(done, users) {
      const nowMs = Date.now()
      if (nowMs - shownMs < everyMs) return
      shownMs = nowMs
      const rate = done / Math.max(0.001, (nowMs - beganMs) / 1000)
      const part = total ? `${bar(done / total)} of ${bytes(total)}` : bytes(done)
      const line = `${verb} ${part}, ${bytes(rate)}/s, ${amount(users)} users`
      output.write(`\r${line.slice(0, columnsOf(output) - 1)}\u001b[K`)
    },
    end() {
      if (shownMs > 0) output.write('\r\u001b[K')
    }
  }
}

/** Draws the progress of something whose total is known, or grows. */
export function showCount(output: Output, verb: string) {
  let shown = false
  return {
    at(done: number, total: number, more: string): void {
      if (!output.isTTY) return
      shown = true
      const line = `${verb} ${bar(total === 0 ? 0 : done / total)} ${amount(done)} of ${amount(total)}${more}`
      output.write(`\r${line.slice(0, columnsOf(output) - 1)}\u001b[K`)
    },
    end(): void {
      if (shown) output.write('\r\u001b[K')
    }
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * barWidth)
  return `[${'='.repeat(full)}${' '.repeat(barWidth - full)}] ${String(Math.floor(Math.min(1, share) * 100)).padStart(3)}%`
}

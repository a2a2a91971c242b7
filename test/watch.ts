import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { endByForce, livingProcesses, startedBy } from './support/processes.ts'

const lookMs = 500

/**
 * Watches from outside the files that lanes run. A lane ends a file at its limit. If it cannot, because the process is
 * blocked, this watch ends the process a little later with everything that it started. If no file begins or ends any
 * more, it ends everything.
 */
export function watchFiles(folder: string, limitMs: number, graceMs: number, endAll: () => void): () => void {
  const ended = new Set<string>()
  let [seen, changedAt] = ['', Date.now()]
  const look = () => {
    const running = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const unfinished = running.map(({ name }) => name).filter((name) => !existsSync(join(folder, name, 'ended')))
    for (const name of unfinished.filter((one) => !ended.has(one))) {
      const began = join(folder, name, 'began')
      if (!existsSync(began) || Date.now() - statSync(began).mtimeMs < limitMs + graceMs) continue
      ended.add(name)
      const pid = Number(readFileSync(began, 'utf8'))
      const all = endByForce(() => [...livingProcesses().filter((one) => one.pid === pid), ...startedBy(pid)])
      say(
        `${fileOf(name)} did not end within ${limitMs / 1_000} s: ended by force, with ${all.length - 1} processes of its own.`
      )
    }
    const state = `${running.length} ${unfinished.length} ${ended.size}`
    if (state !== seen) [seen, changedAt] = [state, Date.now()]
    else if (Date.now() - changedAt > limitMs + 4 * graceMs) {
      say(
        `No file began or ended for ${(limitMs + 4 * graceMs) / 1_000} s, and the runner goes on: it is ended by force.`
      )
      changedAt = Date.now()
      endAll()
    }
  }
  const timer = setInterval(look, lookMs)
  return () => clearInterval(timer)
}

const fileOf = (name: string) => name.replaceAll('+', '/')
const say = (sentence: string) => console.error(`\n✖ ${sentence}`)

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { tooFull } from './disk.ts'
import { boundLog } from './log.ts'
import { type Postmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

export interface Keeper {
  /** Resolves when PostgreSQL has died so often that it is not started again. */
  diedForGood: Promise<void>
  /** Resolves when PostgreSQL has ended. */
  stop(): Promise<void>
}

/** More deaths than this within a minute are not a coincidence. */
const deathsPerMinute = 5
const spaceCheckMs = 1_000

/** Restarts PostgreSQL when it dies, unless it dies again and again with space on its disk. */
export function keepRunning(cluster: Cluster, first: Postmaster, say: (line: string) => void): Keeper {
  const stopping = new AbortController()
  const { signal } = stopping
  const deaths: number[] = []
  let current: Postmaster | undefined = first
  const logCheck = setInterval(() => void boundLog(cluster.log).catch(() => {}), 60_000)
  logCheck.unref()

  async function keep(): Promise<void> {
    while (current) {
      const how = await current.ended
      current = undefined
      if (!signal.aborted) current = await restart(how)
    }
  }

  async function restart(how: string): Promise<Postmaster | undefined> {
    say(`PostgreSQL ${how}; starting it again…`)
    while (!signal.aborted) {
      const now = Date.now()
      deaths.push(now)
      const recent = deaths.filter((death) => now - death < 60_000).length
      if (recent > deathsPerMinute && !(await waitedForSpace())) {
        say(`PostgreSQL died ${recent} times within a minute and is left alone. Its log is ${cluster.log}`)
        return undefined
      }
      try {
        const next = await startPostmaster(cluster, say, signal)
        if (signal.aborted) await stopPostmaster(next, say)
        else return next
      } catch (error) {
        if (!signal.aborted && (await waitedForSpace())) continue
        if (!signal.aborted) say(error instanceof Error ? error.message : String(error))
        await sleep(100 * 2 ** recent, undefined, { signal }).catch(() => {})
      }
    }
    return undefined
  }

  /** On a full disk PostgreSQL dies again and again, and needs only space: its deaths do not count. */
  async function waitedForSpace(): Promise<boolean> {
    const full = tooFull(cluster.dataDir)
    if (!full) return false
    say(`${full} PostgreSQL starts again as soon as there is space.`)
    while (!signal.aborted && tooFull(cluster.dataDir)) await sleep(spaceCheckMs, undefined, { signal }).catch(() => {})
    deaths.length = 0
    return true
  }

  const over = keep().finally(() => clearInterval(logCheck))
  return {
    diedForGood: new Promise((resolve) => {
      void over.then(() => signal.aborted || resolve())
    }),
    async stop() {
      stopping.abort()
      if (current) await stopPostmaster(current, say)
      await over
    }
  }
}

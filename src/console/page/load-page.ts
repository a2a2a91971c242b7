import { isSignedIn } from './api/reachable.ts'

const pauseMs = 1_000
const wait = () => new Promise((resolve) => setTimeout(resolve, pauseMs))
const reloadedAt = 'tidings-reloaded-at'

/**
 * Loads the code of a page. While the service is down it waits, and the console stays open. Code that cannot be loaded
 * although the service responds belongs to an older version of the console: the page is then loaded anew.
 */
export const untilLoaded =
  <Module>(load: () => Promise<Module>) =>
  async (): Promise<Module> => {
    for (let failures = 1; ; failures++) {
      try {
        return await load()
      } catch (error) {
        await wait()
        while ((await isSignedIn()) === undefined) await wait()
        if (failures < 3) continue
        if (Date.now() - Number(sessionStorage.getItem(reloadedAt)) < 30_000) throw error
        sessionStorage.setItem(reloadedAt, String(Date.now()))
        location.reload()
        // Until then the page keeps what it shows.
        await new Promise(() => {})
      }
    }
  }

/** Long enough for the first page to show its content. */
const restMs = 3_000

/** Loads the code of all pages one after the other while the browser has nothing else to do. */
export function loadWhenIdle(loads: (() => Promise<unknown>)[]): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  const idle = window.requestIdleCallback ?? ((next: () => void) => setTimeout(next, 200))
  const [first, ...rest] = loads
  if (first)
    idle(
      () =>
        void first().then(
          () => loadWhenIdle(rest),
          () => {}
        )
    )
}

export const startLoadingWhenIdle = (loads: (() => Promise<unknown>)[]) => setTimeout(() => loadWhenIdle(loads), restMs)

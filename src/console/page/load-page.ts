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

const lookMs = 1_000
/** The first page must have been still for this many looks. */
const stillLooks = 3

/** Loads the code of all pages one after the other, once the first page is there and the browser has nothing else to do. */
export function loadWhenIdle(loads: readonly (() => Promise<unknown>)[], isBusy: () => boolean): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  const idle = window.requestIdleCallback ?? ((next: () => void) => setTimeout(next, 200))
  const loadFrom = (place: number) => {
    const load = loads[place]
    // A page that cannot be loaded now is loaded when it is opened.
    if (load)
      idle(
        () =>
          void load()
            .then(() => loadFrom(place + 1))
            .catch(() => {})
      )
  }
  let still = 0
  const timer = setInterval(() => {
    still = isBusy() ? 0 : still + 1
    if (still < stillLooks) return
    clearInterval(timer)
    loadFrom(0)
  }, lookMs)
}

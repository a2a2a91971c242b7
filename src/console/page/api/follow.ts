import type { ChangeKind } from '../../../wire.ts'
import { isSignedIn } from './reachable.ts'

export interface Followed {
  changed(kinds: ChangeKind[]): void
  /** The stream has begun; `again` after a pause in which changes were missed. */
  ready(again: boolean): void
  reachable(now: boolean): void
}

/** The service beats every 2 s. */
const silentMs = 5_000
const againMs = 1_000
/** Where the stream is refused, everything is fetched this often instead. */
const refusedMs = 15_000
/** Browsers open at most six connections to a host over HTTP/1.1, so a hidden tab gives its stream up. */
const hiddenMs = 20_000

/** Follows a stream of changes, reconnects, and reports outages. Returns the function that ends it. */
export function follow(path: string, to: Followed): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let heardMs = 0
  let begun = false
  let ended = false

  function stop(): void {
    source?.close()
    source = undefined
    clearTimeout(timer)
  }

  function open(): void {
    stop()
    if (document.hidden) return
    heardMs = Date.now()
    let ready = false
    source = new EventSource(path)
    const heard = () => {
      heardMs = Date.now()
    }
    source.addEventListener('beat', heard)
    source.addEventListener('ready', () => {
      heard()
      ready = true
      to.reachable(true)
      to.ready(begun)
      begun = true
    })
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      heard()
      to.changed(JSON.parse(data).kinds)
    })
    source.onerror = () => void lost(ready)
    watch()
  }

  /** A connection may be cut without a word, as by a sleeping machine. */
  function watch(): void {
    timer = setTimeout(() => (Date.now() - heardMs > silentMs ? void lost(true) : watch()), againMs)
  }

  /** A browser does not say why a stream ended: another request finds out. */
  async function lost(worked: boolean): Promise<void> {
    stop()
    const answer = await isSignedIn()
    if (source || ended || document.hidden) return
    to.reachable(answer !== undefined)
    if (answer === false) window.dispatchEvent(new Event('signed-out'))
    else if (answer === undefined) timer = setTimeout(() => void lost(true), againMs)
    else if (worked) open()
    else {
      if (begun) to.ready(true)
      begun = true
      timer = setTimeout(open, refusedMs)
    }
  }

  const onVisibility = () => {
    if (!document.hidden && !source) open()
    else if (document.hidden)
      setTimeout(() => {
        if (document.hidden) stop()
      }, hiddenMs)
  }
  document.addEventListener('visibilitychange', onVisibility)
  open()
  return () => {
    ended = true
    document.removeEventListener('visibilitychange', onVisibility)
    stop()
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Unavailable } from '../platform/errors.ts'
import type { RenderRequest, RenderResponse } from './render-child.ts'

/** Heap of a process. A trigger of 1 MiB takes up to 15 MB of it, a rendering a few. */
const heapMb = 128
/** Campaigns and triggers that one process caches, so that they are not sent with every request. */
const maxCached = { entries: 64, characters: 2_097_152 }
const startMs = 20_000

/** The process ended during a request. */
export class LaneEnded extends Error {
  override readonly name = 'LaneEnded'
}

/** A campaign or trigger by its key. The text is created only if the process has not cached it. */
export interface Named {
  key: string
  json(): string
}

export interface Asked {
  campaign: Named
  trigger: Named
  recipients: string | null
  /** The text whose shared templates are rendered, if there are no recipients. */
  text?: string | undefined
}

export type Lane = ReturnType<typeof openLane>

// TypeScript in the sources, JavaScript in a package.
const file = fileURLToPath(new URL(`./render-child${extname(import.meta.url)}`, import.meta.url))

/** The environment of the process: time zone and locale, so that dates read the same, and no secrets. */
function environment(): Record<string, string> {
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions()
  const compiled = getCompileCacheDir()
  return {
    TZ: timeZone,
    LC_ALL: `${locale.replaceAll('-', '_')}.UTF-8`,
    // Compiling the sources again takes half of the start time and of the memory.
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) })
  }
}

/** Starts a process that renders, one request after the other. */
export function openLane() {
  const child = fork(file, {
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=4', '--disable-warning=ExperimentalWarning'],
    env: environment(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  const cached = new Map<string, number>()
  let waiting: PromiseWithResolvers<unknown> | undefined
  let open = true
  let started = false
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      open = false
      waiting?.reject(new LaneEnded('The process that renders templates ended.'))
      resolve()
    }
    child.once('exit', end)
    child.once('error', end)
  })
  child.on('message', (message) => waiting?.resolve(message))

  async function next(send?: () => void): Promise<unknown> {
    if (!open) throw new LaneEnded('The process that renders templates has ended.')
    waiting = Promise.withResolvers()
    keepAlive(child, true)
    try {
      send?.()
      return await waiting.promise
    } finally {
      waiting = undefined
      keepAlive(child, false)
    }
  }

  const kill = () => {
    open = false
    child.ref()
    child.kill('SIGKILL')
    return ended
  }

  const tooSlow = setTimeout(kill, startMs)
  tooSlow.unref()
  const ready = next()
    .then(
      () => {
        started = true
      },
      () => {
        throw new Unavailable('The process that renders templates does not start.')
      }
    )
    .finally(() => clearTimeout(tooSlow))
  ready.catch(() => {})

  /** Caches a value. The oldest ones make room for it. */
  function keep({ key, json }: Named, drop: string[], needed: Set<string>): { key: string; json?: string } {
    const known = cached.get(key)
    cached.delete(key)
    if (known !== undefined) {
      cached.set(key, known)
      return { key }
    }
    const text = json()
    let characters = text.length
    for (const size of cached.values()) characters += size
    for (const [old, size] of cached) {
      if (cached.size < maxCached.entries && characters <= maxCached.characters) break
      if (needed.has(old)) continue
      characters -= size
      cached.delete(old)
      drop.push(old)
    }
    cached.set(key, text.length)
    return { key, json: text }
  }

  return {
    ready,
    get started() {
      return started
    },
    get open() {
      return open
    },
    /** Rejects with `LaneEnded` if the process ends or is killed. One request at a time. */
    async ask({ campaign, trigger, recipients, text }: Asked): Promise<RenderResponse> {
      const drop: string[] = []
      const needed = new Set([campaign.key, trigger.key])
      const request: RenderRequest = {
        campaign: keep(campaign, drop, needed),
        trigger: keep(trigger, drop, needed),
        recipients,
        text,
        drop
      }
      return (await next(() => child.send(request, () => {}))) as RenderResponse
    },
    kill
  }
}

/** An idle process must not keep the service from ending. */
function keepAlive(child: ChildProcess, busy: boolean): void {
  if (busy) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Unavailable } from '../platform/errors.ts'
import type { RenderRequest, RenderResponse } from './render-child.ts'

/** Heap of a process. A trigger of 1 MiB takes up to 15 MB of it, a rendering a few. */
const heapMb = 128
/** What one process keeps of campaigns and triggers, so that they are sent once and not with every request. */
const mostKept = { entries: 64, characters: 2_097_152 }
const startMs = 20_000

/** The process ended while it rendered. */
export class LaneEnded extends Error {
  override readonly name = 'LaneEnded'
}

/** What a request is about, by a name; the text is made only where the process does not have it. */
export interface Named {
  key: string
  json(): string
}

export interface Asked {
  campaign: Named
  trigger: Named
  recipients: string | null
}

export type Lane = ReturnType<typeof openLane>

// The sources as they are, or as a package has them.
const file = fileURLToPath(new URL(`./render-child${extname(import.meta.url)}`, import.meta.url))

/** Templates read and write dates as this process would; nothing else of its surroundings is theirs to know. */
function surroundings(): Record<string, string> {
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions()
  const compiled = getCompileCacheDir()
  return {
    TZ: timeZone,
    LC_ALL: `${locale.replaceAll('-', '_')}.UTF-8`,
    // To read the sources again takes half of its start and of its memory.
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) })
  }
}

/** Starts a process that renders, one request after the other. */
export function openLane() {
  const child = fork(file, {
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=4', '--disable-warning=ExperimentalWarning'],
    env: surroundings(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  const kept = new Map<string, number>()
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
    hold(child, true)
    try {
      send?.()
      return await waiting.promise
    } finally {
      waiting = undefined
      hold(child, false)
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

  /** Makes room for one more, the oldest first. */
  function keep({ key, json }: Named, drop: string[], needed: Set<string>): { key: string; json?: string } {
    const known = kept.get(key)
    kept.delete(key)
    if (known !== undefined) {
      kept.set(key, known)
      return { key }
    }
    const text = json()
    let characters = text.length
    for (const size of kept.values()) characters += size
    for (const [old, size] of kept) {
      if (kept.size < mostKept.entries && characters <= mostKept.characters) break
      if (needed.has(old)) continue
      characters -= size
      kept.delete(old)
      drop.push(old)
    }
    kept.set(key, text.length)
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
    /** Rejects with `LaneEnded` where the process ends, or is killed. One at a time. */
    async ask({ campaign, trigger, recipients }: Asked): Promise<RenderResponse> {
      const drop: string[] = []
      const needed = new Set([campaign.key, trigger.key])
      const request: RenderRequest = {
        campaign: keep(campaign, drop, needed),
        trigger: keep(trigger, drop, needed),
        recipients,
        drop
      }
      return (await next(() => child.send(request, () => {}))) as RenderResponse
    },
    kill
  }
}

/** An idle process does not keep the service from ending. */
function hold(child: ChildProcess, held: boolean): void {
  if (held) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Log } from '../log.ts'
import { version } from '../version.ts'

/** A kind of data, with its path below the endpoint and the names around its items in OTLP. */
export type Signal = 'traces' | 'metrics' | 'logs'

export interface ExporterOptions {
  signal: Signal
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  gzip: boolean
  /** Puts items into the envelope of the signal. */
  envelope: (items: object[]) => object
  log: Log
}

/** Beyond this, items are dropped and counted: a collector that is away costs data, never memory or time. */
const mostWaiting = 4_096
const batchSize = 512
const gatherMs = 1_000
const attempts = 4
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** How long a stop waits for the last items. */
const closeMs = 3_000

/** Sends items to a collector as OTLP in JSON over HTTP, one request at a time. `add` only puts them into a queue. */
export class Exporter {
  readonly #options: ExporterOptions
  #waiting: object[] = []
  #busy = false
  #sending: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #failing = false
  readonly #stop = new AbortController()
  readonly counts = { sent: 0, dropped: 0 }

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  add(item: object): void {
    if (this.#waiting.length >= mostWaiting || this.#stop.signal.aborted) {
      this.counts.dropped += 1
      return
    }
    this.#waiting.push(item)
    if (this.#busy) return
    if (this.#waiting.length >= batchSize) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), gatherMs).unref()
  }

  async close(): Promise<void> {
    this.#begin()
    const late = setTimeout(() => this.#stop.abort(), closeMs)
    await this.#sending
    clearTimeout(late)
    this.#stop.abort()
    this.counts.dropped += this.#waiting.length
    this.#waiting = []
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#busy) return
    this.#busy = true
    this.#sending = this.#sendAll().finally(() => {
      this.#busy = false
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#waiting.splice(0, batchSize)
      const fault = await this.#send(batch)
      this.counts[fault === undefined ? 'sent' : 'dropped'] += batch.length
      this.#report(fault)
    }
  }

  /** Returns why the collector did not take the batch. */
  async #send(batch: object[]): Promise<string | undefined> {
    const { envelope, gzip } = this.#options
    const text = JSON.stringify(envelope(batch))
    const body = gzip ? gzipSync(text) : text
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#post(body)
      if (!('fault' in result)) return undefined
      if (!result.again || attempt === attempts || this.#stop.signal.aborted) return result.fault
      const waitMs = Math.min(Math.max(result.waitMs ?? 0, firstWaitMs * 2 ** (attempt - 1)), longestWaitMs)
      await sleep(waitMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
    }
  }

  async #post(
    body: string | Uint8Array<ArrayBuffer>
  ): Promise<{ fault: string; again: boolean; waitMs?: number } | Record<never, never>> {
    const { url, headers, timeoutMs, gzip } = this.#options
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': `tidings/${version}`,
          ...(gzip && { 'content-encoding': 'gzip' }),
          ...headers
        },
        body,
        // Following a redirect would send the headers to another server.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#stop.signal])
      })
      await response.body?.cancel()
      if (response.ok) return {}
      const again = [429, 502, 503, 504].includes(response.status)
      return {
        fault: `it responded ${response.status}`,
        again,
        waitMs: Number(response.headers.get('retry-after')) * 1000 || 0
      }
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } }
      return { fault: cause?.code ?? message, again: true }
    }
  }

  /** One line when it begins to fail, and one when it works again. */
  #report(fault: string | undefined): void {
    if ((fault !== undefined) === this.#failing) return
    this.#failing = fault !== undefined
    const { log, signal, url } = this.#options
    const { host, pathname } = new URL(url)
    const collector = `${host}${pathname}`
    if (fault === undefined) log.info({ signal, collector }, 'the collector takes telemetry again')
    else log.warn({ signal, collector, fault }, 'the collector does not take telemetry, which is dropped meanwhile')
  }
}

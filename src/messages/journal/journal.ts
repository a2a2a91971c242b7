import { closeSync, existsSync, fstatSync, ftruncateSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import { journalName, type Line, lineOf } from './format.ts'

// A push that a gateway accepted is sent again if its process dies before the database has the outcome. The journal
// bridges that gap: its lines reach the kernel within the turn of the event loop in which responses arrive, and outlive
// kill -9 of the process. They do not outlive the machine, because nothing is synced to the disk: a sync for each turn
// would cost more than the doubles. docs/decisions/0067 has the figures.

/** One file. `open`: lines whose outcomes the database does not have yet. */
interface Segment {
  path: string
  fd: number
  bytes: number
  open: number
}

/** What `note` returns for `settled`. Undefined if nothing was noted. */
export type Noted = Segment | undefined

/** Beyond this size the next line begins another file: under steady load no moment has all outcomes settled. */
const mostBytes = 1024 * 1024
/** A file whose lines are all settled is emptied beyond this size only: a call for each small batch costs more. */
const keptBytes = 64 * 1024
/** A smaller one is emptied after this time, because its lines name devices, and a device may have been erased. */
const tidyMs = 60_000
/** The most files with open lines. Beyond this, outcomes are not noted. */
const mostSegments = 8
/** After a failure (a full disk, a read-only one) the next attempt waits this long. */
const againMs = 30_000
/** How often the process makes sure that its file has not been removed. */
const checkMs = 5_000

/** Lines of one process. Writing is synchronous: a line that waits for a thread could be lost with the process. */
export class Journal {
  readonly #folder: string
  readonly #nodeId: string
  readonly #log: Log
  #current: Segment | undefined
  #segments = 0
  #numbered = 0
  #text = ''
  #flushing = false
  #offUntilMs = 0
  #checkedAtMs = 0
  #complained = false
  #tidying: NodeJS.Timeout | undefined

  constructor(folder: string, nodeId: string, log: Log) {
    this.#folder = folder
    this.#nodeId = nodeId
    this.#log = log
  }

  /** Notes that the gateway accepted the push. The line is written with all others of this turn of the event loop. */
  note(projectId: ProjectId, line: Line): Noted {
    const segment = this.#segment()
    if (!segment) return undefined
    this.#text += lineOf(projectId, line)
    segment.open += 1
    if (!this.#flushing) {
      this.#flushing = true
      setImmediate(() => this.#flush())
    }
    return segment
  }

  /** The outcome is in the database, or was dropped: its line is no longer needed. */
  settled(segment: Noted): void {
    if (!segment) return
    segment.open -= 1
    if (segment.open > 0) return
    if (segment !== this.#current) this.#remove(segment)
    else if (segment.bytes > keptBytes) this.#empty(segment)
    else this.#tidying ??= setTimeout(() => this.#tidySoon(), tidyMs).unref()
  }

  /** Empties the file, if all of its lines are settled. */
  tidy(): void {
    if (this.#current?.open === 0 && this.#current.bytes > 0) this.#empty(this.#current)
  }

  /** Lines that are open now settle later, which sets the next time. */
  #tidySoon(): void {
    this.#tidying = undefined
    this.tidy()
  }

  /** Removes the file, unless it has lines that the next start must read. */
  close(): void {
    this.#flush()
    clearTimeout(this.#tidying)
    const segment = this.#current
    this.#current = undefined
    this.#offUntilMs = Number.POSITIVE_INFINITY
    if (segment?.open === 0) this.#remove(segment)
  }

  #segment(): Segment | undefined {
    const current = this.#current
    if (current && current.bytes < mostBytes) return current
    if (this.#segments >= mostSegments || steadyMs() < this.#offUntilMs) return current
    this.#flush()
    return this.#open()
  }

  #open(): Segment | undefined {
    const before = this.#current
    try {
      this.#makeFolder()
      this.#numbered += 1
      const path = join(this.#folder, journalName(this.#nodeId, process.pid, this.#numbered))
      this.#current = { path, fd: openSync(path, 'a', 0o600), bytes: 0, open: 0 }
      this.#segments += 1
      this.#checkedAtMs = steadyMs()
    } catch (error) {
      this.#current = undefined
      this.#fail(error)
    }
    if (before?.open === 0) this.#remove(before)
    return this.#current
  }

  /** Not recursive: below /proc, Node's function would not return. A start has made the data folder. */
  #makeFolder(): void {
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 })
  }

  #flush(): void {
    this.#flushing = false
    const text = this.#text
    this.#text = ''
    const segment = this.#current
    if (text === '' || !segment) return
    try {
      segment.bytes += writeSync(segment.fd, text)
      this.#complained = false
      if (steadyMs() - this.#checkedAtMs > checkMs) this.#check(segment)
    } catch (error) {
      this.#current = undefined
      if (segment.open === 0) this.#remove(segment)
      this.#fail(error)
    }
  }

  /** Another process removes the file of a process that looked dead, and a person may too. */
  #check(segment: Segment): void {
    this.#checkedAtMs = steadyMs()
    if (fstatSync(segment.fd).nlink === 0) this.#open()
  }

  #empty(segment: Segment): void {
    try {
      ftruncateSync(segment.fd)
      segment.bytes = 0
    } catch (error) {
      this.#fail(error)
    }
  }

  #remove({ path, fd }: Segment): void {
    this.#segments -= 1
    try {
      closeSync(fd)
      unlinkSync(path)
    } catch {
      // The file is gone, or stays with lines that are settled: a later start removes it.
    }
  }

  #fail(error: unknown): void {
    this.#offUntilMs = steadyMs() + againMs
    if (this.#complained) return
    this.#complained = true
    this.#log.warn(
      { error: (error as Error).message, folder: this.#folder },
      'accepted pushes are not noted in the data folder: after kill -9 those not yet in the database are sent again'
    )
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../../platform/errors.ts'
import type { Log } from '../../../platform/log.ts'
import type { MetricReport } from '../../../platform/metrics.ts'
import { PastCounts } from '../../../platform/siblings/past-counts.ts'
import type { GroupState, OfProcess } from '../../../platform/siblings/siblings.ts'
import { createRateLimits } from '../../../projects/rate-limits/rate-limit.ts'
import { Member } from './member.ts'
import type { Introduced, Start } from './questions.ts'

export interface GroupOptions {
  wanted: number
  /** What each process is started with. */
  start: Omit<Start, 'kind' | 'first' | 'port'>
  log: Log
}

/** A process that died is replaced at once; one that dies again and again, after longer and longer pauses. */
const firstPauseMs = 50
const longestPauseMs = 10_000
const recentMs = 60_000

/** The processes of one `tidings serve --processes`: starts them, replaces the dead, and answers their questions. */
export class ProcessGroup {
  readonly #options: GroupOptions
  readonly #members = new Set<Member>()
  readonly #past = new PastCounts()
  readonly #stopping = new AbortController()
  /** The number of groups and single nodes on the database, as the processes know it. */
  #hosts = 1
  readonly #limits = createRateLimits(() => this.#hosts)
  #deaths: number[] = []
  #died = 0
  #port: number | undefined

  constructor(options: GroupOptions) {
    this.#options = options
  }

  /** Starts the first process, which migrates and bootstraps, and then the others together. */
  async open(): Promise<Introduced> {
    const introduced = await this.#begin(true)
    this.#port = introduced.port
    const others = Array.from({ length: this.#options.wanted - 1 }, () => this.#begin(false))
    await Promise.all(others)
    return introduced
  }

  /** Asks all processes to finish their work, and ends those that are not done in time. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping.abort()
    const members = [...this.#members]
    for (const member of members) member.stop()
    const late = setTimeout(() => {
      for (const member of this.#members) {
        this.#options.log.error({ process: member.pid }, 'the process does not stop and is ended at once')
        member.kill()
      }
    }, withinMs)
    await Promise.all(members.map(({ ended }) => ended))
    clearTimeout(late)
  }

  async #begin(first: boolean): Promise<Introduced> {
    const member = new Member((question) => this.#answer(question))
    this.#members.add(member)
    const outcome = await member.start({ kind: 'start', ...this.#options.start, first, port: this.#port })
    if ('failure' in outcome) {
      member.kill()
      await member.ended
      this.#members.delete(member)
      throw new OperatorError(outcome.failure, outcome.exitCode)
    }
    void member.ended.then((how) => this.#buried(member, how))
    this.#tell()
    return outcome.app
  }

  #answer(question: OfProcess): unknown {
    if (question.kind === 'reports') return this.#reports()
    this.#hosts = question.hosts
    return question.buckets.map(([name, limit, times]) =>
      Array.from({ length: times }, () => this.#limits.take(name, limit))
    )
  }

  async #reports(): Promise<MetricReport[]> {
    const serving = [...this.#members].filter((member) => member.serving)
    return [...(await Promise.all(serving.map((member) => member.report()))), this.#past.report()]
  }

  #buried(member: Member, how: string): void {
    this.#members.delete(member)
    this.#past.add(member.lastReport())
    if (this.#stopping.signal.aborted) return
    this.#died += 1
    const pauseMs = this.#pauseMs()
    this.#options.log.error({ process: member.pid, pause_ms: pauseMs }, `a process ${how}; another one is started`)
    this.#tell()
    void this.#replace(pauseMs)
  }

  /** Doubles with each death and each failed start of the last minute. */
  #pauseMs(): number {
    this.#deaths = [...this.#deaths.filter((at) => Date.now() - at < recentMs), Date.now()]
    return Math.min(firstPauseMs * 2 ** (this.#deaths.length - 1), longestPauseMs)
  }

  async #replace(pauseMs: number): Promise<void> {
    const { signal } = this.#stopping
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await this.#begin(false).catch((error: Error) => {
      this.#options.log.error(`a process could not be started: ${error.message}`)
      return this.#replace(this.#pauseMs())
    })
  }

  #tell(): void {
    const state: GroupState = {
      wanted: this.#options.wanted,
      serving: [...this.#members].filter((member) => member.serving).length,
      deaths: this.#died
    }
    for (const member of this.#members) member.tell(state)
  }
}

import cluster, { type Worker } from 'node:cluster'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MetricReport } from '../../../platform/metrics.ts'
import { Line } from '../../../platform/siblings/line.ts'
import type { GroupState, OfProcess } from '../../../platform/siblings/siblings.ts'
import type { Outcome, Start } from './questions.ts'

/** A start waits for the database and for other starts, each with a limit of its own. */
const startMs = 10 * 60_000
const reportMs = 2_000

/** One process, as its parent sees it. */
export class Member {
  readonly #worker: Worker
  readonly #line: Line<OfProcess>
  readonly pid: number
  /** Resolves with what ended it. */
  readonly ended: Promise<string>
  serving = false
  #lastReport: MetricReport = []

  constructor(answer: (question: OfProcess) => unknown) {
    const compiled = getCompileCacheDir()
    const worker = cluster.fork(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) })
    this.#worker = worker
    this.pid = worker.process.pid ?? 0
    this.#line = new Line({ send: (message) => void worker.send(message, () => {}) }, answer)
    worker.on('message', (message) => void this.#line.receive(message))
    worker.on('error', () => {})
    this.ended = new Promise((resolve) => {
      worker.once('exit', (code, signal) => {
        this.serving = false
        resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`)
      })
    })
  }

  async start(question: Start): Promise<Outcome> {
    const died = this.ended.then((how) => ({
      failure: `The process ${this.pid} ${how} while it started.`,
      exitCode: 1
    }))
    const outcome = await Promise.race([this.#line.ask<Outcome>(question, startMs), died])
    this.serving = 'app' in outcome
    return outcome
  }

  /** Its metrics; those of the last time if it does not respond. */
  async report(): Promise<MetricReport> {
    const asked = this.#line.ask<MetricReport>({ kind: 'report' }, reportMs)
    this.#lastReport = await asked.catch(() => this.#lastReport)
    return this.#lastReport
  }

  lastReport = (): MetricReport => this.#lastReport

  tell(state: GroupState): void {
    if (this.#worker.isConnected()) this.#line.tell({ kind: 'state', state })
  }

  /** Asks it to finish its work and to end. */
  stop(): void {
    if (this.#worker.isConnected()) this.#line.tell({ kind: 'stop' })
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL')
  }
}

/**
 * On Linux each process has a socket of its own for the port, and the kernel spreads connections over them. Elsewhere
 * Node's cluster gives connections to the processes in turn. It is not used on Linux, because it keeps a
 * connection open for ever if the process that it was given to is killed at that moment.
 */
export function prepareMembers(): void {
  // TypeScript in the sources, JavaScript in a package.
  const exec = fileURLToPath(new URL(`../process${extname(import.meta.url)}`, import.meta.url))
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ exec, args: [] })
}

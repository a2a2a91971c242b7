import type { MetricReport, Metrics } from '../metrics.ts'

/** The processes of one `tidings serve --processes`: how many there should be, and how many serve. */
export interface GroupState {
  wanted: number
  serving: number
  /** How many have ended without being asked to. */
  deaths: number
}

/** What a process knows about the others of its `tidings serve --processes`, through their parent. */
export interface Siblings {
  /** The name of the parent, which all its processes have in the list of nodes. */
  parentId: string
  /** Whether this process is the first of the start. It is alone then, and sets up what the others use. */
  first: boolean
  /** The port that the first process got. */
  port: number | undefined
  /** Whether the kernel spreads connections over all processes that listen; otherwise the parent does. */
  sharesPort: boolean
  state(): GroupState
  /** The metrics of every process, and the counts of those that have ended. */
  reports(): Promise<MetricReport[]>
  /** Takes from rate-limit buckets of the parent: for each bucket as many times as it says. */
  take(hosts: number, buckets: [name: string, limit: number, times: number][]): Promise<unknown[][]>
}

/** What a process asks its parent. */
export type OfProcess =
  | { kind: 'reports' }
  | { kind: 'take'; hosts: number; buckets: [name: string, limit: number, times: number][] }

/** The text that operators see while processes are missing. */
export function missingProcesses({ wanted, serving }: GroupState): string | undefined {
  if (serving >= wanted) return undefined
  return `${serving} of ${wanted} processes serve; the others are being started again.`
}

export function countProcesses(metrics: Metrics, { state }: Siblings): void {
  metrics.gauge(
    'tidings_processes',
    'Processes of this `tidings serve --processes`: wanted, and serving.',
    () => {
      const { wanted, serving } = state()
      return { wanted, serving }
    },
    { of: 'all' }
  )
  metrics.counter(
    'tidings_process_deaths_total',
    'Processes of it that ended without being asked to.',
    () => [{ labels: {}, value: state().deaths }],
    { of: 'all' }
  )
}

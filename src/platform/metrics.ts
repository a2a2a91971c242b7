import { AggregatorRegistry, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import { Unavailable } from './errors.ts'

/** The metrics of a process, for a sum over several. */
export type MetricReport = {
  name: string
  help: string
  type: string
  aggregator: string
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[]
}[]

export type Metrics = ReturnType<typeof createMetrics>

type Figures = number | Record<string, number>

/** Counts the responses of one route. */
export type RouteMeter = (status: number, milliseconds: number) => void

interface RouteCounts {
  method: string
  route: string
  byStatus: Map<number, number>
  /** Responses by the first bound they were within; the last entry counts those beyond all. */
  byBound: number[]
  seconds: number
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 100]

/** Processes of one parent report together: their own figures add up, those about all of them do not. */
const aggregators = { process: 'sum', all: 'first' } as const

/** Metrics for operators, in the format of Prometheus. Labels are routes, never paths: an id must not become a time series. */
export function createMetrics() {
  const registry = new Registry()
  // Memory, CPU and event loop lag of the process.
  collectDefaultMetrics({ register: registry })
  const batches = new Histogram({
    name: 'tidings_coalesced_writes',
    help: 'Writes that went to the database in one statement.',
    labelNames: ['kind'] as const,
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers: [registry]
  })
  const routes: RouteCounts[] = []
  registry.registerMetric(requestsTotal(routes) as unknown as Metric)
  registry.registerMetric(requestDurations(routes) as unknown as Metric)

  return {
    registry,
    /**
     * Plain numbers that are formatted when Prometheus reads them: its own client looks the labels up for every
     * response.
     */
    route(method: string, route: string): RouteMeter {
      const counts: RouteCounts = {
        method,
        route,
        byStatus: new Map(),
        byBound: new Array(bounds.length + 1).fill(0),
        seconds: 0
      }
      routes.push(counts)
      return (status, milliseconds) => {
        const seconds = milliseconds / 1000
        counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1)
        counts.seconds += seconds
        let index = 0
        while (index < bounds.length && seconds > bounds[index]!) index += 1
        counts.byBound[index]! += 1
      }
    },
    coalesced(kind: string, writes: number): void {
      batches.observe({ kind }, writes)
    },
    /** A counter read when it is scraped: plain numbers until then. */
    counter(
      name: string,
      help: string,
      read: () => { labels: Record<string, string>; value: number }[],
      { of = 'process' }: { of?: 'process' | 'all' } = {}
    ): void {
      const aggregator = aggregators[of]
      registry.registerMetric(shaped(name, help, 'counter', read, aggregator) as unknown as Metric)
    },
    /** This process's own, for a sum over several. */
    report: async () => (await registry.getMetricsAsJSON()) as unknown as MetricReport,
    /** A gauge read when it is scraped: by label, or one number. A gauge that cannot be read now is left out. */
    gauge(
      name: string,
      help: string,
      read: () => Figures | Promise<Figures>,
      { label = 'state', of = 'process' }: { label?: string; of?: 'process' | 'all' } = {}
    ): void {
      new Gauge({
        name,
        help,
        aggregator: aggregators[of],
        labelNames: [label],
        registers: [registry],
        async collect() {
          this.reset()
          try {
            const figures = await read()
            if (typeof figures === 'number') this.set(figures)
            else for (const [state, count] of Object.entries(figures)) this.set({ [label]: state }, count)
          } catch (error) {
            if (!(error instanceof Unavailable)) throw error
          }
        }
      })
    }
  }
}

/** The metrics of several processes as those of one, in the format of Prometheus. */
export const together = (reports: MetricReport[]): Promise<string> => AggregatorRegistry.aggregate(reports).metrics()

function requestsTotal(routes: RouteCounts[]) {
  const values = () =>
    routes.flatMap(({ method, route, byStatus }) =>
      [...byStatus].map(([status, value]) => ({ labels: { method, route, status }, value }))
    )
  return shaped('tidings_http_requests_total', 'Requests answered, by route and status.', 'counter', values)
}

function requestDurations(routes: RouteCounts[]) {
  const name = 'tidings_http_request_duration_seconds'
  const values = () =>
    routes.flatMap(({ method, route, byBound, seconds }) => {
      const labels = { method, route }
      let count = 0
      const buckets = byBound.map((answers, index) => {
        count += answers
        return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? '+Inf', ...labels }, value: count }
      })
      if (count === 0) return []
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: seconds },
        { metricName: `${name}_count`, labels, value: count }
      ]
    })
  return shaped(name, 'Time from the arrival of a request to the end of its answer.', 'histogram', values)
}

/** The interface of the registry: it calls `get` at every scrape. */
const shaped = (name: string, help: string, type: string, values: () => object[], aggregator = 'sum') => ({
  name,
  get: async () => ({ name, help, type, values: values(), aggregator }),
  reset: () => {}
})

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

const labels = ['method', 'route', 'status'] as const

/** What operators watch, in Prometheus' form. Labels are routes, never paths: an id must not become a time series. */
export function createMetrics() {
  const registry = new Registry()
  // Memory, CPU and event loop lag of the process.
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'tidings_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: labels,
    registers: [registry]
  })
  const durations = new Histogram({
    name: 'tidings_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 100],
    registers: [registry]
  })
  const batches = new Histogram({
    name: 'tidings_coalesced_writes',
    help: 'Writes that went to the database in one statement.',
    labelNames: ['kind'] as const,
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers: [registry]
  })

  return {
    registry,
    request(method: string, route: string, status: number, milliseconds: number): void {
      requests.inc({ method, route, status })
      durations.observe({ method, route }, milliseconds / 1000)
    },
    coalesced(kind: string, writes: number): void {
      batches.observe({ kind }, writes)
    },
    /** A gauge read when it is scraped. */
    gauge(name: string, help: string, read: () => Record<string, number> | number, label = 'state'): void {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect() {
          const value = read()
          if (typeof value === 'number') this.set(value)
          else for (const [state, count] of Object.entries(value)) this.set({ [label]: state }, count)
        }
      })
    }
  }
}

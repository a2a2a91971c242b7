import type { MetricReport } from '../metrics.ts'

/**
 * The counts of processes that have ended, as they were last read. Without them a sum over the processes would fall, and
 * Prometheus would take the fall for a restart of everything and count the rest again.
 */
export class PastCounts {
  readonly #metrics = new Map<string, MetricReport[number]>()

  add(report: MetricReport): void {
    for (const metric of report) {
      if (metric.type !== 'counter' && metric.type !== 'histogram') continue
      const past = this.#metrics.get(metric.name)
      this.#metrics.set(metric.name, { ...metric, values: past ? summed(past.values, metric.values) : metric.values })
    }
  }

  report(): MetricReport {
    return [...this.#metrics.values()]
  }
}

type Values = MetricReport[number]['values']

function summed(left: Values, right: Values): Values {
  const sums = new Map(left.map((value) => [nameOf(value), value]))
  for (const value of right) {
    const name = nameOf(value)
    const before = sums.get(name)
    sums.set(name, before ? { ...value, value: before.value + value.value } : value)
  }
  return [...sums.values()]
}

const nameOf = ({ metricName, labels }: Values[number]) =>
  JSON.stringify([metricName, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))])

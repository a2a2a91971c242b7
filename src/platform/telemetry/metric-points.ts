import type { MetricReport } from '../metrics.ts'
import { attributeList, nanos } from './encoding.ts'

type Family = MetricReport[number]
type Value = Family['values'][number]

const cumulative = 2

/** The metrics of /metrics in OTLP, under the same names. */
export function metricPoints(report: MetricReport, startedAt: number, now: number): object[] {
  const times = { startTimeUnixNano: nanos(startedAt), timeUnixNano: nanos(now) }
  return report.flatMap((family) => {
    if (family.values.length === 0) return []
    const { name, help: description } = family
    const dataPoints = family.values.map(({ value, labels }) => ({
      ...times,
      asDouble: value,
      attributes: attributeList(labels)
    }))
    if (family.type === 'histogram') return { name, description, histogram: histogramOf(family, times) }
    if (family.type === 'counter')
      return { name, description, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }
    return { name, description, gauge: { dataPoints } }
  })
}

/** Prometheus counts in each bucket also what is below it; OTLP does not. */
function histogramOf({ name, values }: Family, times: object) {
  const bySeries = Map.groupBy(values, ({ labels: { le, ...labels } }) => JSON.stringify(labels))
  const dataPoints = [...bySeries].map(([labels, samples]) => {
    const of = (end: string) => samples.filter(({ metricName }) => metricName === `${name}_${end}`)
    const buckets = of('bucket')
    return {
      ...times,
      attributes: attributeList(JSON.parse(labels)),
      count: String(of('count')[0]?.value ?? 0),
      sum: of('sum')[0]?.value ?? 0,
      explicitBounds: buckets.flatMap(({ labels: { le } }) => (le === '+Inf' ? [] : Number(le))),
      bucketCounts: buckets.map(({ value }, index) => String(value - belowOf(buckets, index)))
    }
  })
  return { aggregationTemporality: cumulative, dataPoints }
}

const belowOf = (buckets: Value[], index: number): number => (index === 0 ? 0 : buckets[index - 1]!.value)

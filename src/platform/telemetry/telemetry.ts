import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { pathTemplate } from '../http/openapi/names.ts'
import type { Http } from '../http/server.ts'
import type { JobDefinition } from '../jobs/definition.ts'
import { type Log, onLine } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { version } from '../version.ts'
import { inSpan, readSpan, readTrace } from './context.ts'
import { attributeList } from './encoding.ts'
import { Exporter, type Signal } from './exporter.ts'
import { logRecord } from './log-records.ts'
import { metricPoints } from './metric-points.ts'
import { createSampler } from './sampler.ts'
import { addressOf } from './settings.ts'
import { Span, type Tracer } from './spans.ts'

export interface Telemetry {
  /** A span for each request, under the trace of the caller if it sends one. */
  requests(http: Traced): void
  /** A span for each run of a job, under the trace of the request that added it. */
  job<Payload>(definition: JobDefinition<Payload>): JobDefinition<Payload>
  close(): Promise<void>
}

type Traced = Pick<Http, 'app' | 'direct'>

interface Options {
  config: Config
  log: Log
  metrics: Metrics
  nodeId: string
}

/** Sends spans, metrics and log lines to the collectors that are configured; without one it does nothing. */
export function openTelemetry({ config, log, metrics, nodeId }: Options): Telemetry {
  const resource = { attributes: attributeList(resourceOf(config, nodeId)) }
  const open = (signal: Signal) => exporterOf(signal, config, log, resource)
  const exporters = { traces: open('traces'), metrics: open('metrics'), logs: open('logs') }
  countTelemetry(metrics, exporters)
  const endLog = exporters.logs && forwardLog(log, exporters.logs)
  const endMetrics =
    exporters.metrics && sendMetrics(metrics, exporters.metrics, config.OTEL_METRIC_EXPORT_INTERVAL ?? 60_000)
  const { traces } = exporters
  const sampler = createSampler(
    config.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    config.OTEL_TRACES_SAMPLER_ARG ?? 1
  )
  const tracer = traces && { sampler, add: (span: object) => traces.add(span) }
  return {
    requests: (http) => tracer && traceRequests(http, tracer),
    job: (definition) => (tracer ? tracedJob(definition, tracer) : definition),
    async close() {
      endLog?.()
      await endMetrics?.()
      await Promise.all(Object.values(exporters).map((exporter) => exporter?.close()))
    }
  }
}

const resourceOf = (config: Config, nodeId: string) => ({
  'service.name': config.OTEL_SERVICE_NAME ?? 'tidings',
  'service.version': version,
  'service.instance.id': nodeId,
  'host.name': hostname(),
  'process.pid': process.pid,
  ...config.OTEL_RESOURCE_ATTRIBUTES
})

/** The names of OTLP for the lists of each signal. */
const names = {
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  logs: ['resourceLogs', 'scopeLogs', 'logRecords']
} as const

function exporterOf(signal: Signal, config: Config, log: Log, resource: object): Exporter | undefined {
  const url = addressOf(config, signal)
  if (url === undefined) return undefined
  const [outer, inner, list] = names[signal]
  const scope = { name: 'tidings', version }
  return new Exporter({
    signal,
    url,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT ?? 10_000,
    gzip: config.OTEL_EXPORTER_OTLP_COMPRESSION === 'gzip',
    envelope: (items) => ({ [outer]: [{ resource, [inner]: [{ scope, [list]: items }] }] }),
    log
  })
}

function countTelemetry(metrics: Metrics, exporters: Record<Signal, Exporter | undefined>): void {
  const counted = (count: 'sent' | 'dropped') => () =>
    Object.entries(exporters).flatMap(([signal, exporter]) =>
      exporter ? { labels: { signal }, value: exporter.counts[count] } : []
    )
  metrics.counter(
    'tidings_telemetry_sent_total',
    'Spans, metrics and log lines that a collector took.',
    counted('sent')
  )
  metrics.counter(
    'tidings_telemetry_dropped_total',
    'Spans, metrics and log lines that no collector took in time.',
    counted('dropped')
  )
}

const forwardLog = (log: Log, exporter: Exporter) =>
  onLine(log, (line) => {
    const record = logRecord(line)
    if (record) exporter.add(record)
  })

function sendMetrics(metrics: Metrics, exporter: Exporter, everyMs: number): () => Promise<void> {
  const startedAt = Date.now()
  async function send(): Promise<void> {
    for (const one of metricPoints(await metrics.report(), startedAt, Date.now())) exporter.add(one)
  }
  const timer = setInterval(() => void send().catch(() => {}), everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    // The pool may be closed by now; then the last figures are missing.
    await send().catch(() => {})
  }
}

function traceRequests({ app, direct }: Traced, tracer: Tracer): void {
  // Hooks of Fastify begin the spans.
  direct.leave()
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('onRequest', (request, reply, done) => {
    const span = new Span(tracer, 'server', readSpan(String(request.headers.traceparent)))
    spans.set(request, span)
    // Not Fastify's own hook, which is not called if the client disconnects before the response.
    reply.raw.once('close', () => {
      // The route, never the path: a path holds ids of users.
      const route = routeOf(request)
      const { statusCode, writableFinished } = reply.raw
      const end = writableFinished
        ? { 'http.response.status_code': statusCode }
        : { 'error.type': 'client_closed_request' }
      span.end(
        `${request.method} ${route}`,
        {
          'http.request.method': request.method,
          'http.route': route,
          'tidings.request_id': request.id,
          ...end
        },
        writableFinished && statusCode >= 500 ? String(statusCode) : undefined
      )
    })
    done()
  })
  // As late as possible: a request that waits for its turn is continued by another request.
  app.addHook('preHandler', (request, _, done) => inSpan(spans.get(request), done))
}

/** The route of a request as the API page writes it. */
function routeOf({ routeOptions: { url } }: FastifyRequest): string {
  if (url === undefined) return 'unknown'
  const known = templates.get(url) ?? pathTemplate(url)
  templates.set(url, known)
  return known
}

/** By route, of which there are some hundreds. */
const templates = new Map<string, string>()

const tracedJob = <Payload>(definition: JobDefinition<Payload>, tracer: Tracer): JobDefinition<Payload> => ({
  ...definition,
  async run(payload, context) {
    const [parent, ...links] = context.trace ? readTrace(context.trace) : []
    const span = new Span(tracer, 'internal', parent, links)
    let failure: string | undefined
    try {
      await inSpan(span, () => definition.run(payload, context))
    } catch (error) {
      failure = (error as Error).message
      throw error
    } finally {
      const attributes = { 'tidings.job_id': context.jobId, 'tidings.attempt': context.attempt }
      span.end(`job ${definition.name}`, attributes, failure)
    }
  }
})

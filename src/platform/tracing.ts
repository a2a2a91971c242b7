import type { SpanContext } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { JobDefinition } from './jobs/definition.ts'
import { version } from './version.ts'

export interface Tracing {
  /** A span for each request, under the trace of the caller if it sends one. */
  requests(app: FastifyInstance): void
  /** A span for each run of a job. */
  job<Payload>(definition: JobDefinition<Payload>): JobDefinition<Payload>
  close(): Promise<void>
}

const off: Tracing = { requests: () => {}, job: (definition) => definition, close: async () => {} }

/** Sends spans only if a collector is configured; otherwise not even the library is loaded. */
export async function openTracing(endpoint: string | undefined): Promise<Tracing> {
  if (endpoint === undefined) return off
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })
  // The queue of the processor has a limit: an unreachable collector costs spans, never memory.
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('tidings', version)

  return {
    requests(app) {
      app.addHook('onRequest', (request, reply, done) => {
        const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': request.method } }
        const parent = callersSpan(request)
        const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
        const span = tracer.startSpan(request.method, options, context)
        // Not Fastify's own hook, which is not called if the client disconnects before the response.
        reply.raw.once('close', () => {
          // The route, never the path: a path holds ids of users.
          const route = request.routeOptions.url ?? 'unknown'
          const { statusCode, writableFinished } = reply.raw
          span.updateName(`${request.method} ${route}`)
          span.setAttributes({ 'http.route': route, 'tidings.request_id': request.id })
          span.setAttributes(
            writableFinished ? { 'http.response.status_code': statusCode } : { 'error.type': 'client_closed_request' }
          )
          if (writableFinished && statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        })
        done()
      })
    },
    job: (definition) => ({
      ...definition,
      async run(payload, context) {
        const span = tracer.startSpan(`job ${definition.name}`, {
          attributes: { 'tidings.job_id': context.jobId, 'tidings.attempt': context.attempt }
        })
        try {
          await definition.run(payload, context)
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message })
          throw error
        } finally {
          span.end()
        }
      }
    }),
    close: () => provider.shutdown()
  }
}

/** W3C Trace Context: version, trace, parent span, flags. */
function callersSpan(request: FastifyRequest): SpanContext | undefined {
  const header = String(request.headers.traceparent)
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header) ?? []
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
}

import { samplers } from '../telemetry/sampler.ts'
import { flag, oneOf, type Parse, setting, text, url, whole } from './values.ts'

/** A list of key=value, with values escaped as in a URL, as OpenTelemetry writes it. */
const pairs: Parse<Readonly<Record<string, string>>> = (value) =>
  Object.freeze(
    Object.fromEntries(
      value.split(',').map((pair) => {
        const [, key, given] = /^\s*([\w.-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
        try {
          if (key) return [key, decodeURIComponent(given!)]
        } catch {} // A broken escape.
        throw new Error('must be a list of key=value, as in api-key=abc,team=shop, with other characters as %20')
      })
    )
  )

/** Values of headers as they are sent: visible ASCII and spaces. */
const headers: Parse<Readonly<Record<string, string>>> = (value) => {
  const read = pairs(value)
  if (Object.values(read).some((one) => !/^[\x20-\x7e]*$/.test(one)))
    throw new Error('must contain only characters that a header can have')
  return read
}

const share: Parse<number> = (value) => {
  const number = Number(value)
  if (!(number >= 0 && number <= 1)) throw new Error('must be a number from 0 to 1')
  return number
}

const exporter = oneOf('otlp', 'none')
const address = url('http', 'https')

/** The settings that OpenTelemetry defines for all services, as far as Tidings has them. docs/guides/observability.md. */
export const otelSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    address,
    'OpenTelemetry collector (OTLP over HTTP), as in http://collector:4318. It receives traces, metrics and logs at /v1/traces, /v1/metrics and /v1/logs. See docs/guides/observability.md.'
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(address, 'Whole address for traces, if they go elsewhere.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: setting(address, 'Whole address for metrics, if they go elsewhere.'),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: setting(address, 'Whole address for logs, if they go elsewhere.'),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    headers,
    'Headers of each request to a collector, as in authorization=Bearer%20abc,team=shop.',
    { secret: true }
  ),
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(whole(1, 60_000), 'Milliseconds to wait for the response of a collector.', {
    fallback: '10000'
  }),
  OTEL_EXPORTER_OTLP_COMPRESSION: setting(oneOf('gzip', 'none'), 'Whether requests to a collector are compressed.', {
    fallback: 'none'
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(
    oneOf('http/json', 'http/protobuf'),
    'Tidings sends JSON in both cases; collectors take both at the same address. grpc is not supported: name the port for HTTP, usually 4318.',
    { fallback: 'http/json' }
  ),
  OTEL_TRACES_EXPORTER: setting(exporter, 'none sends no traces.', { fallback: 'otlp' }),
  OTEL_METRICS_EXPORTER: setting(exporter, 'none sends no metrics.', { fallback: 'otlp' }),
  OTEL_LOGS_EXPORTER: setting(exporter, 'none sends no logs.', { fallback: 'otlp' }),
  OTEL_METRIC_EXPORT_INTERVAL: setting(whole(1_000, 3_600_000), 'Milliseconds between two reports of metrics.', {
    fallback: '60000'
  }),
  OTEL_TRACES_SAMPLER: setting(
    oneOf(...samplers),
    'Which traces are recorded. parentbased_ follows the decision of the caller where it sends a traceparent.',
    { fallback: 'parentbased_always_on' }
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(share, 'The share of traces, from 0 to 1, for the samplers with traceidratio.', {
    fallback: '1'
  }),
  OTEL_SERVICE_NAME: setting(text, 'Name of the service in traces, metrics and logs.', { fallback: 'tidings' }),
  OTEL_RESOURCE_ATTRIBUTES: setting(
    pairs,
    'Further attributes of all that is sent, as in deployment.environment.name=production.'
  ),
  OTEL_SDK_DISABLED: setting(flag, 'Sends nothing, whatever else is set.', { fallback: 'false' })
}

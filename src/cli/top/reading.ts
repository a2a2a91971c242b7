import { type ExitCode, exit, Failure } from '../exit.ts'
import { unreachable } from '../refusals.ts'

/** One sample of /metrics. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The service at one moment. */
export interface Reading {
  /** Milliseconds of a steady clock, for rates. */
  ms: number
  samples: Sample[]
  /** `ready`, or why it is not, or what is wrong although it is. */
  health: string
}

const patienceMs = 10_000

/** Reads metrics and readiness over HTTP. */
export async function readService(url: string, token: string | undefined, stop: AbortSignal): Promise<Reading> {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
    }).catch((error) => {
      throw unreachable(url, error)
    })
  const [metrics, ready] = await Promise.all([
    ask('/metrics', token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ask('/readyz')
  ])
  const text = await metrics.text()
  const refused = (code: ExitCode, message: string) => new Failure(code, `http_${metrics.status}`, message)
  if (metrics.status === 403)
    throw refused(
      exit.denied,
      `${url} does not show its metrics. If the service has a METRICS_TOKEN, give --metrics-token; else run this on its machine.`
    )
  if (metrics.status >= 500)
    throw refused(
      exit.unavailable,
      `${url} is not available (HTTP ${metrics.status}). Look for the cause with \`tidings doctor\`.`
    )
  if (!metrics.ok || !text.includes('tidings_'))
    throw refused(
      exit.failure,
      `${url} shows no metrics of Tidings. Check the address, and whether a proxy hides /metrics.`
    )
  const body = (await ready.json().catch(() => ({}))) as { warning?: string; error?: string }
  return { ms: performance.now(), samples: readSamples(text), health: body.warning ?? body.error ?? 'ready' }
}

/** The samples of the text format of Prometheus. */
export function readSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    return name ? { name, labels: readLabels(labels), value: Number(value) } : []
  })
}

const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]))

import type { Reading } from './reading.ts'

type Labels = Record<string, string>
type By = Record<string, number>

export type Figures = ReturnType<typeof figuresOf>

/** What happens between two readings, per second, and what the second one shows. `--json` prints it. */
export function figuresOf(before: Reading, now: Reading) {
  const seconds = (now.ms - before.ms) / 1000
  const sum = ({ samples }: Reading, name: string, labels: Labels) =>
    samples
      .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
      .reduce((total, { value }) => total + value, 0)
  const value = (name: string, labels: Labels = {}) => sum(now, name, labels)
  const labelled = (name: string, label: string) =>
    [...new Set(now.samples.flatMap((one) => (one.name === name ? (one.labels[label] ?? []) : [])))].sort()
  const values = (name: string, label: string): By =>
    Object.fromEntries(labelled(name, label).map((one) => [one, value(name, { [label]: one })]))
  const rate = (name: string, labels: Labels = {}) => {
    const [from, to] = [sum(before, name, labels), sum(now, name, labels)]
    // A counter that is smaller than before belongs to a restarted process.
    return rounded((to < from ? to : to - from) / seconds)
  }
  const rates = (name: string, label: string, labels: Labels = {}): By =>
    Object.fromEntries(labelled(name, label).map((one) => [one, rate(name, { ...labels, [label]: one })]))
  const writes = (kind: string) => rate('tidings_coalesced_writes_sum', { kind })
  const requests = rates('tidings_http_requests_total', 'status')

  return {
    version: labelled('tidings_build_info', 'version')[0] ?? 'unknown',
    health: now.health,
    nodes: values('tidings_nodes', 'role'),
    requests: {
      per_second: rate('tidings_http_requests_total'),
      failed_per_second: rounded(total(Object.entries(requests).filter(([status]) => status.startsWith('5')))),
      shed_per_second: rate('tidings_http_requests_shed_total'),
      waiting: value('tidings_http_requests_waiting')
    },
    writes_per_second: { users: writes('users'), devices: writes('devices'), events: writes('events') },
    messages: {
      per_second: rate('tidings_messages_total'),
      by_state: rates('tidings_messages_total', 'state'),
      failed_by_reason: busy(rates('tidings_messages_total', 'reason', { state: 'failed' }))
    },
    gateways: Object.fromEntries(
      labelled('tidings_pushes_in_flight', 'gateway').map((gateway) => [
        gateway,
        {
          per_second: rates('tidings_pushes_total', 'outcome', { gateway }),
          in_flight: value('tidings_pushes_in_flight', { gateway }),
          circuits_open: value('tidings_gateway_circuits_open', { gateway })
        }
      ])
    ),
    jobs: {
      ...values('tidings_jobs', 'state'),
      oldest_ready_seconds: values('tidings_jobs_oldest_ready_seconds', 'queue')
    },
    triggers: values('tidings_triggers', 'state'),
    webhooks: {
      per_second: rates('tidings_webhook_calls_total', 'result'),
      ...values('tidings_webhook_destinations', 'state')
    },
    approvals: {
      pending: value('tidings_approvals_pending'),
      oldest_seconds: value('tidings_approvals_oldest_pending_seconds')
    },
    process: {
      memory_bytes: value('process_resident_memory_bytes'),
      heap_bytes: value('nodejs_heap_size_used_bytes'),
      cores: rate('process_cpu_seconds_total'),
      event_loop_p99_seconds: value('nodejs_eventloop_lag_p99_seconds')
    },
    database: {
      connections: values('tidings_database_connections', 'state'),
      replica: values('tidings_database_replica', 'figure'),
      servers: values('tidings_database_server_in_use', 'server')
    }
  }
}

const rounded = (number: number) => Math.round(number * 100) / 100
const total = (entries: [string, number][]) => entries.reduce((sum, [, value]) => sum + value, 0)
const busy = (by: By): By =>
  Object.fromEntries(
    Object.entries(by)
      .filter(([, value]) => value > 0)
      .sort(([, one], [, other]) => other - one)
  )

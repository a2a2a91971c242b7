import { amount, bytes, printable } from '../output.ts'
import type { Figures } from './figures.ts'

type By = Record<string, number>

/** The figures as lines for a terminal of 80 columns and 24 rows. */
export function screenOf(figures: Figures, url: string, at: Date): string[] {
  const { requests, writes_per_second: writes, messages, gateways, webhooks, approvals } = figures
  const reasons = Object.entries(messages.failed_by_reason).slice(0, 3)
  const nodes = Object.entries(figures.nodes).filter(([, count]) => count > 0)
  return [
    `Tidings ${figures.version} at ${url}`,
    `${at.toISOString().slice(11, 19)} UTC · ${nodes.map(([role, count]) => `${count} ${role}`).join(', ') || 'no node'} · ${printable(figures.health)}`,
    '',
    row('Requests', [
      perSecond(requests.per_second),
      `5xx ${perSecond(requests.failed_per_second)}`,
      `shed ${perSecond(requests.shed_per_second)}`,
      `waiting ${amount(requests.waiting)}`
    ]),
    row('Users', [
      perSecond(writes.users),
      `devices ${perSecond(writes.devices)}`,
      `events ${perSecond(writes.events)}`
    ]),
    row('Sends', [
      perSecond(messages.per_second),
      ...Object.entries(messages.by_state).map(([state, rate]) => `${state} ${perSecond(rate)}`)
    ]),
    row('Failed by', reasons.length > 0 ? reasons.map(([reason, rate]) => `${reason} ${perSecond(rate)}`) : ['-']),
    '',
    gatewayRow('Gateway', ['accepted/s', 'rejected/s', 'retry/s', 'unknown/s', 'in flight', 'circuits']),
    ...Object.entries(gateways).map(([name, { per_second: by, in_flight, circuits_open }]) =>
      gatewayRow(name, [
        ...['accepted', 'rejected', 'retry', 'unknown'].map((outcome) => number(by[outcome] ?? 0)),
        amount(in_flight),
        circuits_open > 0 ? `${circuits_open} OPEN` : '-'
      ])
    ),
    '',
    row('Jobs', jobsOf(figures.jobs as By & { oldest_ready_seconds: By })),
    row(
      'Triggers',
      Object.entries(figures.triggers).map(([state, count]) => `${state} ${amount(count)}`)
    ),
    row('Webhooks', [
      ...Object.entries(webhooks.per_second).map(([result, rate]) => `${result} ${perSecond(rate)}`),
      `resting ${amount((webhooks as unknown as By).resting ?? 0)}`
    ]),
    row('Approvals', [
      `pending ${amount(approvals.pending)}`,
      ...(approvals.pending > 0 ? [`oldest ${duration(approvals.oldest_seconds)}`] : [])
    ]),
    '',
    row('Process', processOf(figures.process)),
    row('Database', databaseOf(figures.database))
  ]
}

const row = (name: string, cells: string[]) => `${name.padEnd(10)} ${cells.join('   ')}`

const gatewayRow = (name: string, cells: string[]) =>
  `${name.padEnd(10)}${cells.map((cell) => cell.padStart(11)).join('')}`.trimEnd()

const number = (value: number) => (value >= 100 ? amount(Math.round(value)) : value.toFixed(1))
const perSecond = (value: number) => `${number(value)}/s`

function jobsOf({
  oldest_ready_seconds: oldest,
  ready = 0,
  running = 0,
  later = 0,
  dead = 0
}: By & { oldest_ready_seconds: By }): string[] {
  const [queue, seconds] = Object.entries(oldest).sort(([, one], [, other]) => other - one)[0] ?? ['', 0]
  return [
    `ready ${amount(ready)}`,
    `oldest ${duration(seconds)}${seconds > 0 ? ` (${queue})` : ''}`,
    `running ${amount(running)}`,
    `later ${amount(later)}`,
    `dead ${amount(dead)}`
  ]
}

const processOf = ({ memory_bytes, heap_bytes, cores, event_loop_p99_seconds }: Figures['process']) => [
  `memory ${bytes(memory_bytes)}`,
  `heap ${bytes(heap_bytes)}`,
  `CPU ${Math.round(cores * 100)} %`,
  `event loop ${Math.round(event_loop_p99_seconds * 1000)} ms`
]

function databaseOf({ connections, replica, servers }: Figures['database']): string[] {
  const { total = 0, idle = 0, waiting = 0, ...others } = connections
  const standby = replica.usable === 1 ? `standby ${duration(replica.lag_seconds ?? 0)} behind` : 'standby not usable'
  const inUse = Object.entries(servers).find(([, used]) => used === 1)
  return [
    `${amount(total)} connections`,
    `busy ${amount(total - idle)}`,
    `waiting ${amount(waiting)}`,
    ...Object.entries(others).map(([state, count]) => `${state} ${amount(count)}`),
    ...(replica.usable === undefined ? [] : [standby]),
    ...(inUse ? [`writes to ${inUse[0]}`] : [])
  ]
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds < 10 && seconds > 0 ? seconds.toFixed(1) : Math.round(seconds)} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}

import { type Detail, Refusal } from '../../platform/errors.ts'
import { isObject } from '../../platform/fields.ts'
import type { GatewayName } from '../server/ledger.ts'
import { type Faults, type GatewayFaults, noFaults } from './faults.ts'

const gateways = ['apns', 'fcm', 'webpush'] as const

interface Setting {
  field: keyof GatewayFaults
  accepts: (value: unknown) => boolean
  wanted: string
}

const whole = (max: number) => ({
  accepts: (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
  wanted: `must be a whole number from 0 to ${max}`
})

const flag = { accepts: (value: unknown) => typeof value === 'boolean', wanted: 'must be true or false' }

/** The settings of faults, by their names in the API. */
const settings: Record<string, Setting> = {
  down: { field: 'down', ...flag },
  hang: { field: 'hang', ...flag },
  latency_ms: { field: 'latencyMs', ...whole(600_000) },
  jitter_ms: { field: 'jitterMs', ...whole(600_000) },
  error_rate: {
    field: 'errorRate',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 1,
    wanted: 'must be a number from 0 to 1'
  },
  error_status: {
    field: 'errorStatus',
    accepts: (value) => Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599,
    wanted: 'must be a status from 400 to 599'
  },
  goaway_after: { field: 'goawayAfter', ...whole(1_000_000) },
  goaway_last_stream: { field: 'goawayLastStream', ...whole(2 ** 31 - 1) },
  goaway_above_streams: { field: 'goawayAboveStreams', ...whole(1_000_000) },
  drop_after: { field: 'dropAfter', ...whole(1_000_000) },
  half_open_after: { field: 'halfOpenAfter', ...whole(1_000_000) },
  bad_hpack_after: { field: 'badHpackAfter', ...whole(1_000_000) },
  max_streams: { field: 'maxStreams', ...whole(1_000_000) },
  tls_expired: { field: 'tlsExpired', ...flag },
  requests_per_second: { field: 'requestsPerSecond', ...whole(1_000_000) }
}

/** Changes the faults that are named: `{"apns": {"down": true}, "all": {"latency_ms": 100}}`. */
export function changeFaults(faults: Faults, wanted: unknown): void {
  if (!isObject(wanted))
    throw new Refusal('invalid_parameter', 'The faults must be an object with one field for each gateway.')
  const details: Detail[] = []
  const changes: [name: GatewayName | 'all', change: Partial<GatewayFaults>][] = []
  for (const [name, values] of Object.entries(wanted)) {
    if (!isGateway(name)) details.push({ path: name, message: `must be all or one of ${gateways.join(', ')}` })
    else if (!isObject(values)) details.push({ path: name, message: 'must be an object' })
    else changes.push([name, readChange(name, values, details)])
  }
  // All or nothing: half of a change would be another fault than the one asked for.
  if (details.length > 0)
    throw new Refusal('invalid_parameter', 'Some faults are invalid.', details.slice(0, mostDetails).map(shortened))
  for (const [name, change] of changes) faults.set(name, change)
}

/** A body may hold many long names, so the details are limited. */
const mostDetails = 50
const shortened = ({ path, message }: Detail): Detail => ({ path: path.slice(0, 100), message })

function readChange(name: string, values: Record<string, unknown>, details: Detail[]): Partial<GatewayFaults> {
  const change: Partial<Record<keyof GatewayFaults, unknown>> = {}
  for (const [key, value] of Object.entries(values)) {
    const setting = Object.hasOwn(settings, key) ? settings[key] : undefined
    if (!setting)
      details.push({ path: `${name}.${key}`, message: `must be one of ${Object.keys(settings).join(', ')}` })
    else if (!setting.accepts(value)) details.push({ path: `${name}.${key}`, message: setting.wanted })
    else change[setting.field] = value
  }
  return change as Partial<GatewayFaults>
}

const isGateway = (name: string): name is GatewayName | 'all' =>
  name === 'all' || (gateways as readonly string[]).includes(name)

/** All faults by the names of the API. */
export function showFaults(faults: Faults): Record<string, Record<string, unknown>> {
  const shown = (name: GatewayName) => {
    const current: GatewayFaults = { ...noFaults, ...faults.get(name) }
    return Object.fromEntries(Object.entries(settings).map(([key, { field }]) => [key, current[field]]))
  }
  return Object.fromEntries(gateways.map((name) => [name, shown(name)]))
}

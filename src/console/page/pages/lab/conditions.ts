import type { Faults } from '../../../../wire.ts'

type GatewayFaults = Pick<Faults['apns'], 'down' | 'latency_ms' | 'error_rate' | 'error_status'>

/** A way in which a simulated gateway behaves. */
export interface Condition {
  label: string
  effect: string
  faults: GatewayFaults
}

const none: GatewayFaults = { down: false, latency_ms: 0, error_rate: 0, error_status: 503 }

const healthy = { label: 'Healthy', effect: 'Every push is accepted immediately.', faults: none }
const slow = {
  label: 'Slow',
  effect: 'Responses take 3 seconds, and sends wait for them.',
  faults: { ...none, latency_ms: 3_000 }
}
const unavailable = {
  label: '503',
  effect: 'Every push is rejected with 503. Sends are retried and stay pending.',
  faults: { ...none, error_rate: 1, error_status: 503 }
}
const unregistered = {
  label: 'Unregistered',
  effect:
    'As if the app were uninstalled on every device. Tokens are turned off, unless the number of rejections points to a wrong credential.',
  faults: { ...none, error_rate: 1, error_status: 410 }
}
const down = {
  label: 'Down',
  effect: 'Connections fail. Sends are retried and stay pending.',
  faults: { ...none, down: true }
}

export const conditions: Condition[] = [healthy, slow, unavailable, unregistered, down]

export function conditionOf({ down: isDown, latency_ms, error_rate, error_status }: GatewayFaults): Condition {
  if (isDown) return down
  if (error_rate > 0) return error_status === 410 ? unregistered : unavailable
  return latency_ms > 0 ? slow : healthy
}

export const isHealthy = (condition: Condition) => condition === healthy

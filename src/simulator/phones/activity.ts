import { isObject } from '../../platform/fields.ts'
import { faultIn } from '../../platform/json/storable.ts'
import { decoded } from '../server/gateway.ts'
import type { LedgerItem } from '../server/ledger.ts'

/** The Live Activity part of a payload. APNs and FCM put it in different places. */
export interface ActivityPush {
  event: 'start' | 'update' | 'end'
  type: string
  state: Record<string, unknown>
}

type Pushed = Pick<LedgerItem, 'id' | 'message_id' | 'request'>

export function activityOf({ request: { payload } }: Pick<LedgerItem, 'request'>): ActivityPush | undefined {
  const at = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined)
  const aps = at(payload, 'aps') ?? at(at(at(at(payload, 'message'), 'apns'), 'payload'), 'aps')
  const event = at(aps, 'event')
  if (event !== 'start' && event !== 'update' && event !== 'end') return undefined
  const [type, state] = [at(aps, 'attributes-type'), at(aps, 'content-state')]
  return {
    event,
    type: typeof type === 'string' ? type : 'Live Activity',
    // PostgreSQL cannot store every JSON.
    state: isObject(state) && faultIn(state, 64, true) === undefined ? state : {}
  }
}

/**
 * An app reports a token for each activity that a push started. Simulated phones do the same: activity and token are
 * named after the message that started them.
 */
export const activityToken = (activityId: string) => `sim-ok-${activityId}`
export const activityIdOf = ({ message_id, id }: Pick<Pushed, 'id' | 'message_id'>) => message_id ?? id

/** The activity that a push to its own token is for. FCM carries that token in the payload. */
export function activityIdIn({ gateway, request: { path, payload } }: Pick<LedgerItem, 'request' | 'gateway'>) {
  const message = isObject(payload) && isObject(payload.message) ? payload.message : {}
  const inFcm = isObject(message.apns) ? message.apns.live_activity_token : undefined
  const token = gateway === 'fcm' ? String(inFcm ?? '') : path.slice(path.lastIndexOf('/') + 1)
  return /^sim-ok-(.+)$/s.exec(decoded(token))?.[1]
}

import { isObject } from '../../platform/fields.ts'
import type { LedgerItem } from '../server/ledger.ts'

/** A request without its token, since the token allows sending. */
export interface InboxItem extends Omit<LedgerItem, 'token'> {
  /** The simulated activities that a broadcast reached; absent for pushes to one device. */
  activities?: number
}

/** The text that the inbox stores. It begins with the id of the item. */
export function textOf({ token, ...item }: LedgerItem & Pick<InboxItem, 'activities'>): string {
  const masked = { ...item, request: maskedRequest(item.request, token) }
  try {
    return JSON.stringify(masked)
  } catch {
    // Nested too deeply for JSON.stringify, which no gateway accepts either.
    return JSON.stringify({ ...masked, request: { ...masked.request, payload: null } })
  }
}

/** As many characters as the pages about devices show. */
const shownLength = 12

/** Tokens that only a simulator accepts are no secret. */
const maskOf = (token: string) =>
  token.startsWith('sim-') || token.length <= shownLength ? token : `${token.slice(0, shownLength)}…`

/** The request with the beginning of the token in place of the token. */
function maskedRequest(request: LedgerItem['request'], token: string | null): LedgerItem['request'] {
  const path = token === null ? request.path : maskedPath(request.path)
  const { payload } = request
  if (!isObject(payload) || !isObject(payload.message)) return { ...request, path }
  const { message } = payload
  const apns = isObject(message.apns) ? message.apns : undefined
  const activity = apns?.live_activity_token
  return {
    ...request,
    path,
    payload: {
      ...payload,
      message: {
        ...message,
        ...(typeof message.token === 'string' && { token: maskOf(message.token) }),
        ...(typeof activity === 'string' && { apns: { ...apns, live_activity_token: maskOf(activity) } })
      }
    }
  }
}

const maskedPath = (path: string) =>
  path.replace(/^(\/3\/device\/|\/push\/)(.+)$/s, (_, place: string, token: string) => place + maskOf(token))

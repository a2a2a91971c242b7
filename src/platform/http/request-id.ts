import type { IncomingMessage } from 'node:http'
import { newId } from '../ids.ts'

/** The caller's own id if it can be forwarded (1 to 128 visible ASCII characters), otherwise a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId()
}

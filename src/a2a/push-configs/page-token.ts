import { faultIn } from '../../platform/json/storable.ts'
import { invalid } from '../errors.ts'
import type { ConfigPlace } from './store.ts'

/** The longest id of a webhook. */
const longestId = 255

export const sealToken = ({ created_at, id }: ConfigPlace): string =>
  Buffer.from(JSON.stringify([created_at.getTime(), id])).toString('base64url')

/** The last webhook of the page before. The text is the caller's, so it may hold what the database would refuse. */
export function openToken(text: string): ConfigPlace {
  const value = valueIn(text)
  const [at, id] = Array.isArray(value) ? value : []
  const isTime = typeof at === 'number' && at >= 0 && !Number.isNaN(new Date(at).getTime())
  if (!isTime || typeof id !== 'string' || [...id].length > longestId || faultIn(id, 1, true))
    throw invalid('pageToken', 'is not one that this service gave out')
  return { created_at: new Date(at), id }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

import { checkChosenId, refusing } from '../platform/fields.ts'
import { type Facts, factNames, type Platform, type SentDevice } from './schemas.ts'
import { readToken, type TokenInput } from './tokens.ts'

export interface DeviceInput {
  id: string
  platform: Platform
  /** Absent: unchanged. null: removed. */
  pushPermission: boolean | null | undefined
  facts: Facts
  /** Absent: unchanged. null: removed. */
  token: TokenInput | null | undefined
}

const invalidDevice = refusing('invalid_device')
const invalidId = refusing('invalid_device_id')

/**
 * The rules of project_user_id, but at most 255 characters: the id is also part of keys in other tables and of collapse
 * ids.
 */
export const checkDeviceId = (id: unknown, path = 'device_id'): string =>
  checkChosenId(id, 255, (message) => invalidId(path, message))

const platforms = new Map<string, Platform>([
  ['IOS', 'IOS'],
  ['IPADOS', 'IOS'],
  ['ANDROID', 'ANDROID'],
  ['WEB', 'WEB']
])

/** Native SDKs send DEVICE_PLATFORM_TYPE_IOS; others send the name that the system gives itself. */
const platformOf = (text: string | null | undefined): Platform | undefined =>
  platforms.get((text ?? '').toUpperCase().replace(/^DEVICE_PLATFORM_TYPE_/, ''))

/** The id of an entry that omits its platform: a known device has a stored platform. */
export const withoutPlatform = ({ id, device_id, platform, os_name }: SentDevice): string | undefined =>
  platform === undefined && !platformOf(os_name) ? (id ?? device_id) : undefined

/** One entry of a request in one spelling. `appIdentifier` comes from the headers; `known` is the stored platform. */
export function readDevice(
  sent: SentDevice,
  path: string,
  appIdentifier: string | undefined,
  known?: Platform
): DeviceInput {
  const id = checkDeviceId(sent.id ?? sent.device_id, `${path}.id`)
  const platform = platformOf(sent.platform ?? sent.os_name) ?? (sent.platform === undefined ? known : undefined)
  if (!platform)
    throw invalidDevice(
      `${path}.platform`,
      sent.platform === undefined ? 'must be given for a new device' : 'must be IOS, ANDROID or WEB'
    )
  const facts: Facts = {}
  for (const name of factNames) if (sent[name] !== undefined) facts[name] = sent[name]
  return {
    id,
    platform,
    pushPermission: sent.is_push_permission_granted,
    facts,
    token: readToken(sent, platform, path, appIdentifier)
  }
}

import { type Detail, Refusal, type RefusalCode } from '../../platform/errors.ts'
import { isAbsent, isObject, refusing } from '../../platform/fields.ts'
import { validator } from '../../platform/http/validation.ts'
import { readTime } from '../../platform/time.ts'
import { type Choices, checkProjectUserId, checkProperties, choicesIn, type Properties } from '../../users/users.ts'
import { type DeviceInput, readDevice } from '../fields.ts'
import { DeviceSchema, type Platform, type SentDevice } from '../schemas.ts'

/** A user with its devices, checked. Without an id, each device belongs to an anonymous user of its own. */
export interface Entry {
  index: number
  projectUserId: string | undefined
  properties: Properties
  choices: Choices | undefined
  createdAt: Date | undefined
  lastSeenAt: Date | undefined
  devices: ImportedDevice[]
}

export interface ImportedDevice {
  /** Where in the entry: `devices[1]`. */
  path: string
  input: DeviceInput
  createdAt: Date | undefined
  lastSeenAt: Date | undefined
}

/** A part of a request that was not stored. */
export interface NotStored {
  index: number
  /** Where in the entry: `devices[1].push_token`. */
  path: string
  error: string
  code: RefusalCode
}

export const mostDevices = 100

const checkDevice = validator(DeviceSchema, 'invalid_device', {
  id: 'invalid_device_id',
  device_id: 'invalid_device_id'
})

/** Reads one entry. Devices with a fault are left out and reported; any other fault refuses the whole entry. */
export function readEntry(
  sent: unknown,
  index: number,
  platforms: ReadonlyMap<string, Platform>,
  notStored: NotStored[]
): Entry | undefined {
  try {
    if (!isObject(sent)) throw new Refusal('malformed_body', 'must be an object')
    const devices = isAbsent(sent.devices) ? [] : sent.devices
    if (!Array.isArray(devices) || devices.length > mostDevices)
      throw refusing('invalid_device')('devices', `must be a list of at most ${mostDevices} devices`)
    const choices = choicesIn(sent)
    if (choices instanceof Refusal) throw choices
    const projectUserId = isAbsent(sent.project_user_id) ? undefined : checkProjectUserId(sent.project_user_id)
    const properties = checkProperties(isAbsent(sent.properties) ? {} : sent.properties)
    if (projectUserId === undefined && devices.length === 0)
      throw new Refusal('invalid_project_user_id', 'project_user_id: must be given, or devices')
    if (projectUserId === undefined && choices)
      throw refusing('invalid_parameter')('preferences', 'must not be given without project_user_id')
    const entry = { index, projectUserId, properties, choices, ...timesOf(sent), devices: [] as ImportedDevice[] }
    for (const [place, device] of devices.entries()) {
      const read = readOne(device, `devices[${place}]`, platforms)
      if (read instanceof Refusal) notStored.push(notStoredOf(index, read))
      else entry.devices.push(read)
    }
    return entry
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    notStored.push(notStoredOf(index, error))
    return undefined
  }
}

function readOne(sent: unknown, path: string, platforms: ReadonlyMap<string, Platform>): ImportedDevice | Refusal {
  try {
    if (!isObject(sent)) throw refusing('invalid_device')(path, 'must be an object')
    checkDevice(sent)
    const device = sent as SentDevice
    const known = platforms.get(device.id ?? device.device_id ?? '')
    return { path, input: readDevice(device, path, undefined, known), ...timesOf(sent, `${path}.`) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const [fault] = error.details
    if (!fault || fault.path.startsWith(path)) return error
    return refusing(error.code)(`${path}.${fault.path}`, fault.message)
  }
}

function timesOf(sent: Record<string, unknown>, place = '') {
  const read = (name: string) => {
    const given = sent[name]
    if (isAbsent(given)) return undefined
    const at = typeof given === 'string' ? readTime(given) : undefined
    if (!at) throw refusing('invalid_parameter')(`${place}${name}`, 'must be a time such as 2026-11-15T09:30:00Z')
    // A clock that is wrong elsewhere must not keep a user young for ever.
    return new Date(Math.min(at.getTime(), Date.now()))
  }
  return { createdAt: read('created_at'), lastSeenAt: read('last_seen_at') }
}

export function notStoredOf(index: number, { message, code, details }: Refusal): NotStored {
  const [first]: readonly Detail[] = details
  const [, named = ''] = first ? [] : (/^([a-z_]+): /.exec(message) ?? [])
  return {
    index,
    path: first?.path ?? named,
    error: first?.message ?? message.slice(named ? named.length + 2 : 0),
    code
  }
}

/** The ids of devices in an entry that name no platform: those that exist have a stored one. */
export function devicesOf(sent: unknown): SentDevice[] {
  const devices = isObject(sent) && Array.isArray(sent.devices) ? sent.devices.slice(0, mostDevices) : []
  return devices.filter(
    (one): one is SentDevice =>
      isObject(one) && typeof (one.id ?? one.device_id) === 'string' && typeof (one.os_name ?? '') === 'string'
  )
}

import { fieldWarning, printable } from '../platform/http/warnings.ts'
import { isTimeZone } from '../platform/time.ts'
import { likelyMisspelt } from './likely-fields.ts'
import type { SentDevice } from './schemas.ts'

/** Other services take the user with the device. Here an app logs its user in, because it may have to prove who it is. */
const ofUsers = ['project_user_id', 'external_id', 'external_user_id']
const logIn = 'log in by POST /api/v1/devices/{device_id}/user/project-user-id'
/** Names of zones that a warning has. */
const mostZones = 3

/** What is stored or ignored although the caller probably means something else. Most requests give no cause. */
export function doubtsAbout(devices: SentDevice[]): string[] {
  const doubts: string[] = []
  const misspelt = likelyMisspelt(devices)
  if (misspelt.length > 0) doubts.push(fieldWarning(misspelt))
  const user = ofUsers.find((name) => devices.some((device) => Object.hasOwn(device, name)))
  if (user) doubts.push(`"${user}" logs no user in: ${logIn}`)
  const zones = unknownZones(devices)
  if (zones.length > 0) doubts.push(`unknown time zone ${zones.join(', ')}: UTC is used`)
  return doubts
}

function unknownZones(devices: SentDevice[]): string[] {
  const found = new Set<string>()
  for (const { timezone } of devices) {
    if (timezone && !isTimeZone(timezone)) found.add(`"${printable(timezone)}"`)
    if (found.size === mostZones) break
  }
  return [...found]
}

import { reach } from '../devices/devices.ts'
import type { Db } from '../platform/db/db.ts'
import { Refusal, type RefusalCode } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { identity } from '../users/users.ts'
import type { FailureCode } from './channel.ts'
import type { Target } from './fields.ts'

/** The user and the devices that a target names, or why there are none. */
export interface Recipient {
  userId: string | null
  devices: reach.ReachRow[]
  reason: FailureCode | null
}

/** Devices of one request, all of which are in memory while it runs. For more there are campaigns. */
const mostDevices = 20_000

/** Users whose devices one statement looks up. */
const usersAtOnce = 250

/** Finds the users and devices that targets name, in a few statements however many targets there are. */
export async function findRecipients(
  db: Db,
  projectId: ProjectId,
  targets: Target[],
  tooMany: RefusalCode
): Promise<Recipient[]> {
  const names = targets.flatMap((target) => ('projectUserId' in target ? target.projectUserId : []))
  const given = targets.flatMap((target) => ('userId' in target && isUuid(target.userId) ? target.userId : []))
  const deviceIds = targets.flatMap((target) => ('deviceId' in target ? target.deviceId : []))
  const idOf = names.length > 0 ? await identity.idsOf(db, projectId, names) : new Map<string, string>()
  const existing = given.length > 0 ? await identity.namesOf(db, projectId, given) : new Map<string, string | null>()
  const userIds = [...new Set([...idOf.values(), ...existing.keys()])]
  const [ofUsers, named] = await Promise.all([
    findDevicesOf(db, projectId, userIds),
    deviceIds.length > 0 ? reach.findReachOfDevices(db, projectId, deviceIds) : []
  ])
  const byUser = Map.groupBy(ofUsers, ({ user_id }) => user_id)
  const byId = new Map(named.map((device) => [device.id, device]))

  const recipients = targets.map((target): Recipient => {
    if ('deviceId' in target) {
      const device = byId.get(target.deviceId)
      if (!device) return { userId: null, devices: [], reason: 'NO_DEVICE' }
      return { userId: device.user_id, devices: [device], reason: null }
    }
    const asked = 'userId' in target ? target.userId.toLowerCase() : undefined
    const userId = 'projectUserId' in target ? idOf.get(target.projectUserId) : asked && existing.has(asked) && asked
    if (!userId) return { userId: null, devices: [], reason: 'USER_NOT_FOUND' }
    const own = byUser.get(userId) ?? []
    return { userId, devices: own, reason: own.length === 0 ? 'NO_DEVICE' : null }
  })
  const reached = recipients.reduce((sum, { devices }) => sum + devices.length, 0)
  if (reached > mostDevices) throw new Refusal(tooMany, `reaches ${reached} devices at once; at most ${mostDevices}`)
  return recipients
}

/** Parts of many users are looked up at the same time, while this process has nothing else to do for them. */
async function findDevicesOf(db: Db, projectId: ProjectId, userIds: string[]): Promise<reach.ReachRow[]> {
  const parts = Array.from({ length: Math.ceil(userIds.length / usersAtOnce) }, (_, part) =>
    reach.findReachOfUsers(db, projectId, userIds.slice(part * usersAtOnce, (part + 1) * usersAtOnce))
  )
  return (await Promise.all(parts)).flat()
}

export const devicesOf = (recipients: Recipient[]): string[] => [
  ...new Set(recipients.flatMap(({ devices }) => devices.map(({ id }) => id)))
]

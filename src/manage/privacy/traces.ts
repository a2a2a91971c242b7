import type { Devices } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Users } from '../../users/users.ts'
import type { Traces } from './copies.ts'
import { sharedDevices, usedDevices } from './device-store.ts'

/** Why copies that name only a device could not be searched for all devices of a user. */
export type Unsearched = 'deleted' | 'shared'

const mostDevices = 10_000

/**
 * What names a user in copies: the ids, the devices of the user, and those on which its messages and events were. Copies
 * with a device that another user has too may be about that user, so they are left alone.
 */
export async function tracesOf(
  { pool, users, devices }: { pool: Db; users: Users; devices: Devices },
  projectId: ProjectId,
  projectUserId: string
): Promise<{ traces: Traces; unsearched: Unsearched | null }> {
  const user = await users.get(projectId, projectUserId).catch(absent)
  if (!user) return { traces: { projectUserId, userId: null, deviceIds: [] }, unsearched: 'deleted' }
  const own = new Set((await devices.ofUser(projectId, user.id, mostDevices)).map(({ id }) => id))
  const used = await usedDevices(pool, projectId, user.id, mostDevices)
  const former = used.filter((id) => !own.has(id))
  const shared = await sharedDevices(pool, projectId, user.id, former)
  const deviceIds = [...own, ...former.filter((id) => !shared.has(id))]
  return { traces: { projectUserId, userId: user.id, deviceIds }, unsearched: shared.size > 0 ? 'shared' : null }
}

function absent(error: unknown): undefined {
  if (!(error instanceof Refusal && error.code === 'not_found')) throw error
}

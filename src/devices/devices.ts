import { createCoalescer } from '../platform/coalesce.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced, lostRace } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { checkIdentity } from '../projects/projects.ts'
import { checkProjectUserId, identity, type OnOptedOut, type Properties, tooLarge } from '../users/users.ts'
import { checkDeviceId, type DeviceInput, withoutPlatform } from './fields.ts'
import type { Platform, SentDevice } from './schemas.ts'
import { type DeviceSearch, searchDevices } from './search-store.ts'
import * as store from './store.ts'
import { type ActivityToken, devicesOfTokens, registerActivityToken, setTokens, tokensOfDevice } from './token-store.ts'

export { checkDeviceId, readDevice } from './fields.ts'
export * as reach from './reach-store.ts'
export { managedDevice } from './responses.ts'
export { ManagedDevice, type SentDevice } from './schemas.ts'
export type { DeviceSearch } from './search-store.ts'
export type { DeviceRow } from './store.ts'
export type Devices = ReturnType<typeof createDevices>

/**
 * The limit of the device id, the activity type and the activity id together: they form one key, and no index takes a
 * longer one.
 */
const mostKeyBytes = 2_400

/**
 * Called when an anonymous user logs in as another user: other capabilities move their rows in the same transaction.
 */
export type MoveHistory = (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) => Promise<void>

/** Deletes the rows that other capabilities keep about a user who is about to be deleted, in the same transaction. */
export type BeforeRemoval = (tx: Db, projectId: ProjectId, userIds: string[]) => Promise<unknown>

/**
 * Call this before users are deleted: it locks their devices first and then the users, as every writer does. A device
 * that was linked meanwhile belongs to a writer which may wait for its user, so the deletion begins again instead of
 * waiting for the device: each deadlock would stop both for a second.
 */
export async function lockWithUsers(tx: Db, projectId: ProjectId, userIds: string[]): Promise<void> {
  await store.lockDevicesOf(tx, projectId, userIds)
  await identity.lock(tx, projectId, userIds)
  if (!(await store.lockArrivedDevices(tx, projectId, userIds))) throw lostRace('A device came to a deleted user.')
}

export function createDevices({
  pool,
  metrics,
  moveHistory,
  onOptedOut,
  beforeRemoval
}: {
  pool: Pool
  metrics: Metrics
  moveHistory: MoveHistory
  onOptedOut: OnOptedOut
  beforeRemoval: BeforeRemoval
}) {
  const writes = createCoalescer<DeviceInput, store.DeviceRow>(
    async (projectId, batch) => {
      metrics.coalesced('devices', batch.length)
      const rows = await againIfRaced(() => pool.transaction((tx) => writeTogether(tx, projectId, batch)))
      return batch.map(({ id }) => rows.get(id)!)
    },
    undefined,
    { paced: pool.isDistributed }
  )

  /** Locks devices first, then tokens, then users, each in order. Every writer of devices locks in this order. */
  async function writeTogether(tx: Db, projectId: ProjectId, batch: DeviceInput[]) {
    const at = new Date()
    const ids = batch.map(({ id }) => id)
    const known = new Map((await store.lockDevices(tx, projectId, ids)).map((row) => [row.id, row]))
    const rows = batch.map(({ id, platform, pushPermission, facts }) => ({
      id,
      user_id: known.get(id)?.user_id ?? newId(),
      platform,
      // Only an explicit no counts as no: an app that has a token and reports no permission was allowed to get the
      // token.
      push_permission: (pushPermission === undefined ? known.get(id)?.push_permission : pushPermission) ?? true,
      facts: { ...known.get(id)?.facts, ...facts }
    }))
    const fresh = rows.filter(({ id }) => !known.has(id))
    if (fresh.length > 0) {
      const made = await identity.createAnonymous(tx, projectId, usersOf(fresh), at)
      if (!made) throw projectGone()
    }
    const written = await store.upsertDevices(tx, projectId, rows, at)
    if (written.size < rows.length) throw projectGone()
    // Another transaction created the device since the lock found none, so these rows were made without its facts and
    // permission. The next attempt merges them.
    if (fresh.some(({ id, user_id }) => written.get(id) !== user_id)) throw lostRace('A device was registered twice.')
    const said = batch.flatMap(({ id, token }) => (token === undefined ? [] : [[id, token] as const]))
    await setTokens(tx, projectId, new Map(said), at)
    await identity.markSeen(tx, projectId, [...written.values()], at)
    return new Map((await store.findDevices(tx, projectId, ids)).map((row) => [row.id, row]))
  }

  /**
   * Runs `work` with the user of the device. The device is locked, so it keeps this user until the work is done. `proven`
   * is the user that the caller proved to act for; null if that is not needed.
   */
  const withUserOf = <Result>(
    projectId: ProjectId,
    deviceId: string,
    proven: string | null,
    work: (tx: Db, userId: string) => Promise<Result>
  ) =>
    againIfRaced(() =>
      pool.transaction(async (tx) => {
        const userId = (await store.holdDevices(tx, projectId, [deviceId])).get(deviceId)
        if (!userId) throw noDevice()
        if (proven !== null) await checkOwner(tx, projectId, userId, proven)
        const result = await work(tx, userId)
        const at = new Date()
        await store.markDevicesSeen(tx, projectId, [deviceId], at)
        await identity.markSeen(tx, projectId, [userId], at)
        return result
      })
    )

  /** Gives the device to another user. The device is locked, so no write reaches the old user meanwhile. */
  const give = (projectId: ProjectId, deviceId: string, work: (tx: Db, from: string, at: Date) => Promise<void>) =>
    againIfRaced(() =>
      pool.transaction(async (tx) => {
        const from = await store.lockDevice(tx, projectId, deviceId)
        if (!from) throw noDevice()
        await work(tx, from, new Date())
      })
    )

  const isAnonymous = async (tx: Db, projectId: ProjectId, userId: string) =>
    (await identity.namesOf(tx, projectId, [userId])).get(userId) === null

  return {
    /** Registers or changes devices, each independently. Fields that an entry omits stay unchanged. */
    put: (projectId: ProjectId, devices: DeviceInput[]): Promise<store.DeviceRow[]> =>
      Promise.all(devices.map((device) => writes.write(projectId, device.id, device))),

    /** The stored platforms of known devices, for entries without one. */
    async platformsFor(projectId: ProjectId, sent: SentDevice[]): Promise<Map<string, Platform>> {
      const ids = sent.flatMap((one) => withoutPlatform(one) ?? [])
      const found = ids.length > 0 ? await store.findDevices(pool, projectId, ids) : []
      return new Map(found.map(({ id, platform }) => [id, platform]))
    },

    /**
     * Moves the device from its user to the named one. The history of an anonymous user moves too; a named user keeps
     * its own.
     */
    async link(projectId: ProjectId, deviceId: unknown, projectUserId: unknown): Promise<void> {
      const id = checkDeviceId(deviceId)
      const name = checkProjectUserId(projectUserId)
      await give(projectId, id, async (tx, from, at) => {
        const to = await identity.ensure(tx, projectId, name, at)
        if (!to) throw projectGone()
        await store.moveDevice(tx, projectId, id, to, at)
        if (to === from || !(await isAnonymous(tx, projectId, from))) return
        // Waits for concurrent writes for the user, so that they move too. Otherwise they would be deleted with the
        // user.
        await identity.lock(tx, projectId, [from])
        await moveHistory(tx, projectId, from, to)
        if (await identity.absorb(tx, projectId, from, to, at)) await onOptedOut(tx, projectId, [to])
        await identity.removeAnonymous(tx, projectId, [from])
      })
    },

    /** The device gets a new anonymous user; the named user keeps its history. */
    async unlink(projectId: ProjectId, deviceId: unknown): Promise<void> {
      const id = checkDeviceId(deviceId)
      await give(projectId, id, async (tx, from, at) => {
        if (await isAnonymous(tx, projectId, from)) return
        const to = newId()
        if (!(await identity.createAnonymous(tx, projectId, [to], at))) throw projectGone()
        await store.moveDevice(tx, projectId, id, to, at)
      })
    },

    /**
     * Deletes the device and its tokens; a device that does not exist counts as deleted. An anonymous user without a
     * device can neither be reached nor log in, so deleting the last device deletes its anonymous user too.
     */
    async remove(projectId: ProjectId, deviceId: unknown): Promise<void> {
      const id = checkDeviceId(deviceId)
      await againIfRaced(() =>
        pool.transaction(async (tx) => {
          const userId = await store.lockDevice(tx, projectId, id)
          if (!userId) return
          const last = (await store.countDevicesOf(tx, projectId, userId)) === 1
          const orphaned = last && (await isAnonymous(tx, projectId, userId))
          if (orphaned) await beforeRemoval(tx, projectId, [userId])
          await store.deleteDevice(tx, projectId, id)
          if (orphaned) await identity.removeAnonymous(tx, projectId, [userId])
        })
      )
    },

    /** Runs `work` with the user of a device, who keeps the device until the work is done. */
    withUser: <Result>(
      projectId: ProjectId,
      deviceId: unknown,
      proven: string | null,
      work: (tx: Db, userId: string) => Promise<Result>
    ) => withUserOf(projectId, checkDeviceId(deviceId), proven, work),

    setProperties: (
      projectId: ProjectId,
      deviceId: unknown,
      properties: Properties,
      proven: string | null = null
    ): Promise<void> =>
      withUserOf(projectId, checkDeviceId(deviceId), proven, async (tx, userId) => {
        const merged = await identity.mergeProperties(tx, projectId, userId, properties, new Date())
        if (!merged) throw tooLarge()
      }),

    dropProperties: (
      projectId: ProjectId,
      deviceId: unknown,
      names: string[],
      proven: string | null = null
    ): Promise<number> =>
      withUserOf(projectId, checkDeviceId(deviceId), proven, (tx, userId) =>
        identity.dropProperties(tx, projectId, userId, names, new Date())
      ),

    async setActivityToken(projectId: ProjectId, deviceId: unknown, token: ActivityToken): Promise<boolean> {
      const id = checkDeviceId(deviceId)
      if (Buffer.byteLength(id + token.attributesType + token.activityId) > mostKeyBytes)
        throw new Refusal('invalid_device', `the three ids must be at most ${mostKeyBytes} bytes together`)
      return withUserOf(projectId, id, null, (tx) => registerActivityToken(tx, projectId, id, token, new Date()))
    },

    /**
     * The users of the devices that exist. The devices are locked, keep their users until the transaction ends, and
     * count as seen.
     */
    async hold(tx: Db, projectId: ProjectId, deviceIds: string[], at: Date): Promise<Map<string, string>> {
      const users = await store.holdDevices(tx, projectId, deviceIds)
      await store.markDevicesSeen(tx, projectId, [...users.keys()], at)
      return users
    },

    async get(projectId: ProjectId, deviceId: unknown): Promise<store.DeviceRow> {
      const [device] = await store.findDevices(pool, projectId, [checkDeviceId(deviceId)])
      if (!device) throw noDevice()
      return device
    },

    /** The users of the devices that exist, without a lock. */
    async ownersOf(projectId: ProjectId, deviceIds: string[]): Promise<Map<string, string>> {
      const rows = deviceIds.length > 0 ? await store.findDevices(pool, projectId, deviceIds) : []
      return new Map(rows.map(({ id, user_id }) => [id, user_id]))
    },

    /** The devices of a user, the newest first. */
    ofUser: (projectId: ProjectId, userId: string, limit: number): Promise<store.DeviceRow[]> =>
      store.listDevices(pool, projectId, { userId, after: undefined, limit }),

    /** Devices that a search finds, among the newest ten thousand. */
    search: (projectId: ProjectId, wanted: DeviceSearch): Promise<store.DeviceRow[]> =>
      searchDevices(pool, projectId, wanted),

    /** All tokens of a device, each as `<APNS|FCM|WEBPUSH>:<token, or endpoint of a subscription>`. */
    tokensOf: (projectId: ProjectId, deviceId: string): Promise<string[]> => tokensOfDevice(pool, projectId, deviceId),

    /** Devices by `<APNS|FCM|WEBPUSH>:<token, or endpoint of a subscription>`; unknown tokens are left out. */
    ofTokens: (projectId: ProjectId, names: string[]): Promise<Map<string, string>> =>
      devicesOfTokens(pool, projectId, names),

    /** Deletes one batch of devices of a project that is being erased. */
    eraseWindow: store.eraseDeviceWindow
  }
}

/** Refuses a caller who proved to act for another user than the one of the device. */
export async function checkOwner(db: Db, projectId: ProjectId, userId: string, proven: string): Promise<void> {
  checkIdentity(proven, (await identity.namesOf(db, projectId, [userId])).get(userId))
}

const usersOf = (rows: { user_id: string }[]) => rows.map(({ user_id }) => user_id)
const projectGone = () => new Refusal('invalid_api_key', 'Invalid API key')
export const noDevice = (message = 'No device of this id is registered.') => new Refusal('device_not_found', message)

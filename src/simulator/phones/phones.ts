import { createHash } from 'node:crypto'
import type { Db, Pool } from '../../platform/db/db.ts'
import { notify } from '../../platform/db/store.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { InboxItem } from '../fleet/inbox-item.ts'
import * as activities from './activity-store.ts'
import { catchUp, noReports, type Reports } from './arrivals.ts'
import { type Phone, phoneOf } from './screen.ts'
import * as store from './store.ts'

/** Phones in an unusual state, and tokens of uninstalled apps, that a project keeps. */
const mostPhones = 10_000
const mostDead = 1_000

export type State = 'offline' | 'uninstalled'

export interface PhonesOptions {
  pool: Pool
  /** The channel that wakes pages which show phones. */
  channel: string
  /** Makes sure that the project has a simulator. */
  prepare: (projectId: ProjectId) => Promise<unknown>
  /** Reports of apps on phones, after the change is stored. */
  report: (projectId: ProjectId, reports: Reports) => void
  /** Called when tokens have died, so that gateways refuse them at once. */
  onDead: (projectId: ProjectId) => Promise<void>
}

export type Phones = ReturnType<typeof createPhones>

/** The simulated phones of all projects: whether they are online, whether they have the app, and their screens. */
export function createPhones({ pool, channel, prepare, report, onDead }: PhonesOptions) {
  /** Runs a change of phones alone, and wakes the pages that show them. */
  async function change<Result>(projectId: ProjectId, work: (tx: Db, at: Date) => Promise<Result>): Promise<Result> {
    await prepare(projectId)
    return pool.transaction(async (tx) => {
      await store.lockPhones(tx, projectId)
      const result = await work(tx, new Date())
      await tx.run(notify, [channel, projectId])
      return result
    })
  }

  const stateOf = async (tx: Db, projectId: ProjectId, deviceId: string): Promise<store.PhoneRow> =>
    (await store.findPhones(tx, projectId, [deviceId]))[0] ?? {
      device_id: deviceId,
      offline_since: null,
      uninstalled_at: null
    }

  async function pushOf(projectId: ProjectId, id: string) {
    const found = await store.findPush(pool, projectId, id)
    if (!found) throw new Refusal('not_found', 'There is no such push, or it is older than the inbox.')
    return found
  }

  return {
    /** The phones of these devices. */
    async of(projectId: ProjectId, deviceIds: string[]): Promise<Map<string, Phone>> {
      const [states, pushes, running] = await Promise.all([
        store.findPhones(pool, projectId, deviceIds),
        store.pushesOnScreens(pool, projectId, deviceIds),
        activities.activitiesOf(pool, projectId, deviceIds)
      ])
      const stateBy = new Map(states.map((state) => [state.device_id, state]))
      const pushesBy = Map.groupBy(pushes, ({ device_id }) => device_id)
      const runningBy = Map.groupBy(running, ({ device_id }) => device_id)
      return new Map(
        deviceIds.map((id) => [id, phoneOf(stateBy.get(id), pushesBy.get(id) ?? [], runningBy.get(id) ?? [])])
      )
    },
    /** The devices whose phones are in one of these states, up to 10,000. */
    async inState(projectId: ProjectId, ...states: State[]): Promise<string[]> {
      const rows = await store.specialPhones(pool, projectId, mostPhones)
      return rows.filter((row) => states.some((state) => isIn(row, state))).map(({ device_id }) => device_id)
    },
    /** The devices that something was sent to, the latest first. */
    recent: (projectId: ProjectId, limit: number) => store.recentDevices(pool, projectId, limit),

    async setOnline(projectId: ProjectId, deviceId: string, online: boolean): Promise<void> {
      const reports = await change(projectId, async (tx, at) => {
        const state = await stateOf(tx, projectId, deviceId)
        if ((state.offline_since === null) === online) return noReports()
        await store.putPhone(tx, projectId, { ...state, offline_since: online ? null : at }, at, mostPhones)
        return online ? catchUp(tx, projectId, deviceId) : noReports()
      })
      report(projectId, reports)
    },
    /** The app is gone: gateways refuse its tokens, each given as `<APNS|FCM|WEBPUSH>:<token, or endpoint>`. */
    async uninstall(projectId: ProjectId, deviceId: string, tokens: string[]): Promise<void> {
      await change(projectId, async (tx, at) => {
        const state = await stateOf(tx, projectId, deviceId)
        await store.putPhone(tx, projectId, { ...state, uninstalled_at: at }, at, mostPhones)
        await store.addDeadTokens(tx, projectId, tokens.map(hashOf), at, mostDead)
        await store.clearScreenOf(tx, projectId, deviceId, at)
        await activities.removeActivities(tx, projectId, deviceId)
      })
      await onDead(projectId)
    },
    /** Tokens that no longer work, though the app is still there. */
    async kill(projectId: ProjectId, tokens: string[]): Promise<void> {
      await change(projectId, (tx, at) => store.addDeadTokens(tx, projectId, tokens.map(hashOf), at, mostDead))
      await onDead(projectId)
    },
    /** The app is there again, with new tokens that the caller registers. */
    install: (projectId: ProjectId, deviceId: string): Promise<void> =>
      change(projectId, async (tx, at) => {
        const state = await stateOf(tx, projectId, deviceId)
        if (state.uninstalled_at)
          await store.putPhone(tx, projectId, { ...state, uninstalled_at: null }, at, mostPhones)
      }),
    /** Removes what is known about a phone, when its device is deleted. */
    forget: (projectId: ProjectId, deviceId: string): Promise<void> =>
      change(projectId, async (tx, at) => {
        await store.removePhone(tx, projectId, deviceId)
        await store.clearScreenOf(tx, projectId, deviceId, at)
        await activities.removeActivities(tx, projectId, deviceId)
      }),
    look: async (projectId: ProjectId, id: string): Promise<InboxItem> =>
      JSON.parse((await pushOf(projectId, id)).item),
    /** Removes a notification from the screen. */
    async take(projectId: ProjectId, id: string, fate: 'opened' | 'dismissed'): Promise<void> {
      const { number } = await pushOf(projectId, id)
      const shown = await change(projectId, (tx, at) => store.markPush(tx, projectId, number, fate, at))
      if (!shown) throw new Refusal('conflict', 'The phone does not show this push.')
    },
    /** Removes all Live Activities, when the inbox is emptied. */
    clear: (projectId: ProjectId): Promise<void> =>
      change(projectId, async (tx) => void (await activities.clearActivities(tx, projectId)))
  }
}

const isIn = ({ offline_since, uninstalled_at }: store.PhoneRow, state: State) =>
  (state === 'offline' ? offline_since : uninstalled_at) !== null

/** Tokens allow sending, so only their hashes are kept. */
export const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex')

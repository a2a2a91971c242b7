import { checkOwner, type Devices } from '../devices/devices.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { checkProjectUserId, choice, identity, type OnOptedOut } from '../users/users.ts'
import { type ChoiceChange, changed, type Preferences, shown } from './choices.ts'
import { consentsOf, recordConsent, type Via } from './consents.ts'
import { allTopics } from './topic-store.ts'
import { createTopics, type UsersOfTopic } from './topics.ts'

export { type Chosen, isTransactional, refusalBy, type TopicDefaults } from './choices.ts'
export { holdTopic, topicDefaults } from './topic-store.ts'
export type { Topics } from './topics.ts'
export type PreferencesRoom = ReturnType<typeof createPreferences>

export interface PreferencesOptions {
  pool: Pool
  devices: Pick<Devices, 'withUser' | 'get'>
  onOptedOut: OnOptedOut
  /** The campaigns that use a topic. */
  campaignsOf: UsersOfTopic
}

/** Topics of projects, and what users have chosen. */
export function createPreferences({ pool, devices, onOptedOut, campaignsOf }: PreferencesOptions) {
  /** Merges a change into the choices of a user, and returns them with the defaults. */
  async function change(
    tx: Db,
    projectId: ProjectId,
    userId: string,
    wanted: ChoiceChange,
    by: Via
  ): Promise<Preferences> {
    const topics = await allTopics(tx, projectId)
    refuseUnknown(wanted, new Set(topics.map(({ id }) => id)))
    const before = await choice.lockChoices(tx, projectId, userId)
    if (before === undefined) throw noUser()
    const after = changed(before, wanted)
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      await choice.writeChoices(tx, projectId, userId, after, new Date())
      if (after?.out && !before?.out) await onOptedOut(tx, projectId, [userId])
    }
    await recordConsent(tx, projectId, { userId, before, wanted, by })
    return shown(after, topics)
  }

  async function read(projectId: ProjectId, userId: string | undefined): Promise<Preferences> {
    const choices = userId === undefined ? undefined : await choice.findChoices(pool, projectId, userId)
    if (choices === undefined) throw noUser()
    return shown(choices, await allTopics(pool, projectId))
  }

  const idOf = (db: Db, projectId: ProjectId, projectUserId: unknown) =>
    identity.find(db, projectId, { projectUserId: checkProjectUserId(projectUserId) })

  return {
    topics: createTopics({ pool, campaignsOf }),

    ofUser: async (projectId: ProjectId, projectUserId: unknown) =>
      read(projectId, await idOf(pool, projectId, projectUserId)),

    /** The evidence of what the user chose. */
    async consentsOfUser(projectId: ProjectId, projectUserId: unknown) {
      const userId = await idOf(pool, projectId, projectUserId)
      if (userId === undefined) throw noUser()
      return consentsOf(pool, projectId, userId)
    },

    changeOfUser: (projectId: ProjectId, projectUserId: unknown, wanted: ChoiceChange, by: Via): Promise<Preferences> =>
      againIfRaced(() =>
        pool.transaction(async (tx) => {
          const userId = await idOf(tx, projectId, projectUserId)
          if (!userId) throw noUser()
          return change(tx, projectId, userId, wanted, by)
        })
      ),

    /** `proven`: the user that the caller proved to act for; null if that is not needed. */
    async ofDevice(projectId: ProjectId, deviceId: unknown, proven: string | null): Promise<Preferences> {
      const { user_id } = await devices.get(projectId, deviceId)
      if (proven !== null) await checkOwner(pool, projectId, user_id, proven)
      return read(projectId, user_id)
    },

    changeOfDevice: (
      projectId: ProjectId,
      deviceId: unknown,
      proven: string | null,
      wanted: ChoiceChange,
      by: Via
    ): Promise<Preferences> =>
      devices.withUser(projectId, deviceId, proven, (tx, userId) => change(tx, projectId, userId, wanted, by))
  }
}

function refuseUnknown({ topics }: ChoiceChange, known: ReadonlySet<string>): void {
  const unknown = Object.keys(topics ?? {}).filter((id) => !known.has(id))
  if (unknown.length === 0) return
  const details = unknown.slice(0, 20).map((id) => ({
    path: `topics.${id.slice(0, 64)}`,
    message: 'is not a topic of this project'
  }))
  throw new Refusal('invalid_parameter', `${details[0]!.path}: ${details[0]!.message}`, details)
}

const noUser = () => new Refusal('not_found', 'No user has this project_user_id.')

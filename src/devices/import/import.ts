import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced, lostRace } from '../../platform/db/races.ts'
import { Refusal } from '../../platform/errors.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { identity, type PutUser, tooLarge, type Users } from '../../users/users.ts'
import type { Devices } from '../devices.ts'
import { lockDevices } from '../store.ts'
import { setTokens } from '../token-store.ts'
import { devicesOf, type Entry, type ImportedDevice, type NotStored, notStoredOf, readEntry } from './entries.ts'
import { type WrittenImport, writeImported } from './store.ts'

export type Imports = ReturnType<typeof createImports>

export interface ImportOutcome {
  stored_users: number
  stored_devices: number
  errors: NotStored[]
}

/** A device of an entry, with the user it shall belong to. */
interface Placed extends ImportedDevice {
  entry: Entry
  /** The service's id of a named user; undefined: an anonymous one. */
  userId: string | undefined
}

/**
 * Stores users with their devices and tokens, many in one transaction: five statements for a thousand users, where
 * single requests need five for each. Everything can be repeated.
 */
export function createImports({ pool, users, devices }: { pool: Pool; users: Users; devices: Devices }) {
  async function writeTogether(tx: Db, projectId: ProjectId, entries: Entry[], errors: NotStored[]) {
    const at = new Date()
    const deviceIds = new Set(entries.flatMap((entry) => entry.devices.map(({ input }) => input.id)))
    // Devices are locked before users, as every writer does.
    const known = new Map((await lockDevices(tx, projectId, [...deviceIds])).map((row) => [row.id, row]))
    const named = entries.filter(({ projectUserId }) => projectUserId !== undefined)
    const put = await users.createIn(
      tx,
      projectId,
      named.map(({ projectUserId, properties }) => ({ projectUserId: projectUserId!, properties }))
    )
    const ids = new Map<Entry, string>()
    for (const [index, entry] of named.entries()) {
      const outcome: PutUser | Refusal = put[index]!
      if (outcome instanceof Refusal) errors.push(notStoredOf(entry.index, outcome))
      else ids.set(entry, outcome.id)
    }
    // The devices of a refused user are refused with it. Of several entries with a device, the last one counts.
    const accepted = entries.filter((entry) => entry.projectUserId === undefined || ids.has(entry))
    const last = new Map(
      accepted.flatMap((entry) => {
        const userId = ids.get(entry)
        return entry.devices.map((device): [string, Placed] => [device.input.id, { ...device, entry, userId }])
      })
    )
    const placed = [...last.values()]
    const rows = placed.map((one) => rowOf(one, known.get(one.input.id), at))
    const fresh = rows.filter((row, index) => !known.has(row.id) && placed[index]!.userId === undefined)
    const freshIds = fresh.map((row) => row.user_id)
    if (freshIds.length > 0 && !(await identity.createAnonymous(tx, projectId, freshIds, at))) throw projectGone()
    const stored = await writeImported(tx, projectId, rows, at)
    if (stored.length < rows.length) throw projectGone()
    // Another transaction created the device since the lock found none, so its row was made without its facts and
    // permission. The next attempt merges them.
    if (stored.some(({ id, inserted }) => !inserted && !known.has(id))) throw lostRace('A device was registered twice.')
    const written = new Map(stored.map(({ id, user_id }) => [id, user_id]))
    const said = placed.flatMap(({ input: { id, token } }) => (token === undefined ? [] : [[id, token] as const]))
    const tokens = new Map(said)
    const mayHaveOthers = [...tokens.keys()].filter((id) => known.has(id))
    await setTokens(tx, projectId, tokens, at, mayHaveOthers)
    errors.push(...(await mergeAnonymous(tx, projectId, { placed, written }, at)))
    await identity.setTimes(tx, projectId, timesOf(ids))
    const chosen = [...ids.keys()].flatMap(({ projectUserId, choices }) =>
      choices ? [[projectUserId!, choices] as const] : []
    )
    // No campaign may see the devices of a user without the user's choices.
    await users.mergeChoicesIn(tx, projectId, chosen)
    return { placed, written, stored: ids.size }
  }

  return {
    /** Stores what can be stored, and returns why the rest was not. */
    async run(projectId: ProjectId, sent: unknown[]): Promise<ImportOutcome> {
      const notRead: NotStored[] = []
      const platforms = await devices.platformsFor(projectId, sent.flatMap(devicesOf))
      const entries = sent.flatMap((one, index) => readEntry(one, index, platforms, notRead) ?? [])
      const { errors, placed, written, stored } = await againIfRaced(() => {
        const refused: NotStored[] = []
        return pool.transaction(async (tx) => ({
          errors: refused,
          ...(await writeTogether(tx, projectId, entries, refused))
        }))
      })
      // A device that belonged to another user moves with its history, as if its user had logged in.
      const moving = placed.filter(({ input, userId }) => userId !== undefined && written.get(input.id) !== userId)
      for (const { input, entry } of moving) await devices.link(projectId, input.id, entry.projectUserId)
      const all = [...notRead, ...errors].sort((one, two) => one.index - two.index)
      return { stored_users: stored, stored_devices: placed.length, errors: all }
    }
  }
}

type Known = Awaited<ReturnType<typeof lockDevices>>[number]

function rowOf({ input, userId, createdAt, lastSeenAt }: Placed, known: Known | undefined, at: Date): WrittenImport {
  const { id, platform, pushPermission, facts } = input
  return {
    id,
    user_id: known?.user_id ?? userId ?? newId(),
    platform,
    push_permission: (pushPermission === undefined ? known?.push_permission : pushPermission) ?? true,
    facts: { ...known?.facts, ...facts },
    created_at: createdAt ?? lastSeenAt ?? at,
    last_seen_at: lastSeenAt ?? createdAt ?? at
  }
}

/** Merges the properties of entries without an id into the users of their devices. Returns those that were not stored. */
async function mergeAnonymous(
  tx: Db,
  projectId: ProjectId,
  { placed, written }: { placed: readonly Placed[]; written: ReadonlyMap<string, string> },
  at: Date
): Promise<NotStored[]> {
  const given = placed.filter(({ userId, entry }) => userId === undefined && Object.keys(entry.properties).length > 0)
  const userOf = ({ input }: Placed) => written.get(input.id)!
  const properties = new Map(given.map((one) => [userOf(one), one.entry.properties]))
  const merged = await identity.mergePropertiesOf(tx, projectId, properties, at)
  const left = given.filter((one) => !merged.has(userOf(one)))
  if (left.length === 0) return []
  const names = await identity.namesOf(tx, projectId, left.map(userOf))
  return left.map((one) => {
    const { code, message } = names.get(userOf(one)) === null ? tooLarge() : ownedByNow()
    return { index: one.entry.index, path: `${one.path}.properties`, error: message, code }
  })
}

const ownedByNow = () =>
  new Refusal('conflict', 'a user with a project_user_id has logged in on this device, and keeps its own properties')

function timesOf(ids: ReadonlyMap<Entry, string>) {
  const given = [...ids].filter(([{ createdAt, lastSeenAt }]) => createdAt || lastSeenAt)
  return new Map(given.map(([{ createdAt, lastSeenAt }, id]) => [id, { createdAt, lastSeenAt }]))
}

const projectGone = () => new Refusal('invalid_api_key', 'Invalid API key')

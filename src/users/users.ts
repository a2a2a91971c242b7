import { createCoalescer } from '../platform/coalesce.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal, type RefusalCode } from '../platform/errors.ts'
import { type Fields, isObject } from '../platform/fields.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { changeUser, insertUser, type PropertyChange } from './change-store.ts'
import { mergeChoices } from './choice-store.ts'
import { choicesByUser, type GivenChoices } from './choices.ts'
import { createIndexes } from './indexes.ts'
import { checkProjectUserId, checkProperties, type Properties, tooLarge } from './properties.ts'
import { createUserSearch } from './search.ts'
import { statisticsJob } from './statistics.ts'
import * as store from './store.ts'

export type { Choices } from './choice-store.ts'
export * as choice from './choice-store.ts'
export { choicesIn } from './choices.ts'
export * as consent from './consent-store.ts'
export * as identity from './identity-store.ts'
export { indexedProperties, indexedValue } from './index-store.ts'
export { visitedOf } from './listing-store.ts'
export {
  checkProjectUserId,
  checkProperties,
  type Properties,
  type PropertyValue,
  tooLarge
} from './properties.ts'
export { maxProperties } from './schemas.ts'
export { learnProjects } from './statistics-store.ts'
export { type DrawnUser, type PutUser, putUsers, type StoredUser } from './store.ts'
export type BatchResult = { properties: Properties } | { error: string; code: RefusalCode }
export type Users = ReturnType<typeof createUsers>

interface Write extends store.Change {
  kind: 'put' | 'merge' | 'remove'
}

/**
 * The outcome of a write: the stored properties or a refusal. Only a `put` also returns the id of the user.
 */
type Outcome = { id?: string; properties: Properties } | Refusal

/** A command. Its refusals name its fields as they stand here. */
export interface CreateUser {
  projectUserId: string
  properties: Properties
}

/** Receives users who have opted out of everything but transactional messages, in the transaction of that choice. */
export type OnOptedOut = (tx: Db, projectId: ProjectId, userIds: readonly string[]) => Promise<void>

export interface UsersOptions {
  pool: Pool
  metrics: Metrics
  beforeRemoval: store.BeforeRemoval
  onOptedOut: OnOptedOut
}

export function createUsers({ pool, metrics, beforeRemoval, onOptedOut }: UsersOptions) {
  const writes = createCoalescer<Write, Outcome>(runTogether, undefined, { paced: pool.isDistributed })
  const indexes = createIndexes(pool)

  /**
   * One statement for each kind of write. They run one after the other, so that after a failure none is still running.
   */
  async function runTogether(projectId: ProjectId, batch: Write[]): Promise<Outcome[]> {
    metrics.coalesced('users', batch.length)
    const byKind = Map.groupBy(batch, ({ kind }) => kind)
    const [puts, merges, removals] = [byKind.get('put'), byKind.get('merge'), byKind.get('remove')]
    const put = puts && (await putTogether(projectId, puts))
    const merged = merges && (await mergeTogether(projectId, merges))
    const removed = removals?.map(({ projectUserId }) => projectUserId)
    if (removed) await store.deleteUsers(pool, projectId, removed, beforeRemoval)
    // No two writes of a batch share a user.
    return batch.map(({ projectUserId }) => put?.get(projectUserId) ?? merged?.get(projectUserId) ?? nothing)
  }

  async function putTogether(projectId: ProjectId, puts: store.Change[]): Promise<Map<string, Outcome>> {
    // Imports and deletions lock users together with devices, so a write may meet them in a deadlock.
    const outcomes: Map<string, Outcome> = await againIfRaced(() =>
      store.upsertUsers(pool, projectId, puts, new Date())
    )
    // A user without a row would be too large. If no user has a row, the project may be being erased instead.
    const erased = outcomes.size === 0
    for (const { projectUserId } of puts) {
      if (!outcomes.has(projectUserId)) outcomes.set(projectUserId, erased ? await refusalOf(projectId) : tooLarge())
    }
    return outcomes
  }

  async function refusalOf(projectId: ProjectId): Promise<Refusal> {
    const known = await store.projectExists(pool, projectId)
    return known ? tooLarge() : new Refusal('invalid_api_key', 'Invalid API key')
  }

  async function mergeTogether(projectId: ProjectId, merges: store.Change[]): Promise<Map<string, Outcome>> {
    const merged = await againIfRaced(() => store.mergeUsers(pool, projectId, merges, new Date()))
    const outcomes = new Map<string, Outcome>([...merged].map(([id, properties]) => [id, { properties }]))
    const left = merges.map((change) => change.projectUserId).filter((id) => !outcomes.has(id))
    if (left.length === 0) return outcomes
    const existing = new Set((await store.findUsers(pool, projectId, left)).map((user) => user.projectUserId))
    for (const id of left) outcomes.set(id, existing.has(id) ? tooLarge() : notFound())
    return outcomes
  }

  async function mergeChoicesIn(tx: Db, projectId: ProjectId, choices: readonly GivenChoices[]): Promise<void> {
    const leaving = await mergeChoices(tx, projectId, choicesByUser(choices), new Date())
    if (leaving.length > 0) await onOptedOut(tx, projectId, leaving)
  }

  const settle = (projectId: ProjectId, write: Write) => writes.write(projectId, write.projectUserId, write)

  return {
    /** Creates the user, or changes the given keys of an existing one. Returns all stored properties. */
    async put(projectId: ProjectId, projectUserId: unknown, properties: unknown = {}): Promise<Properties> {
      const id = checkProjectUserId(projectUserId)
      const write = { kind: 'put' as const, projectUserId: id, properties: checkProperties(properties) }
      return done(await settle(projectId, write)).properties
    },
    /** Creates or changes a user by a command. Returns the service's own id of the user, too. */
    async create(projectId: ProjectId, command: CreateUser): Promise<store.PutUser> {
      const change = checked(command)
      if (change instanceof Refusal) throw change
      return done(await settle(projectId, { kind: 'put', ...change })) as store.PutUser
    },
    /** Many commands in the caller's transaction, each with its own outcome, by position. */
    async createIn(tx: Db, projectId: ProjectId, commands: CreateUser[]): Promise<(store.PutUser | Refusal)[]> {
      const changes = commands.map(checked)
      const outcomes = new Map<store.Change, store.PutUser | undefined>()
      for (const wave of wavesOf(changes.filter((change): change is store.Change => !(change instanceof Refusal)))) {
        const put = await store.upsertUsers(tx, projectId, wave, new Date())
        for (const change of wave) outcomes.set(change, put.get(change.projectUserId))
      }
      return changes.map((change) => (change instanceof Refusal ? change : (outcomes.get(change) ?? tooLarge())))
    },
    /** Writes each entry like `put`, each with its own outcome: a bad entry does not affect the others. */
    async putMany(projectId: ProjectId, entries: unknown[]): Promise<BatchResult[]> {
      return Promise.all(
        entries.map(async (entry) => {
          try {
            const { project_user_id, properties } = asObject(entry)
            return { properties: await this.put(projectId, project_user_id, properties) }
          } catch (error) {
            if (error instanceof Refusal) return { error: error.message, code: error.code }
            throw error
          }
        })
      )
    },
    /** Changes only the keys given; a null is a value, not a deletion. */
    async update(projectId: ProjectId, projectUserId: unknown, properties: unknown = {}): Promise<Properties> {
      const id = checkProjectUserId(projectUserId)
      const changes = checkProperties(properties)
      if (Object.keys(changes).length === 0) return (await this.get(projectId, id)).properties
      return done(await settle(projectId, { kind: 'merge', projectUserId: id, properties: changes })).properties
    },
    /** Removes properties by name and returns the remaining ones. Names that the user does not have are ignored. */
    async dropProperties(projectId: ProjectId, projectUserId: unknown, names: string[]): Promise<Properties> {
      const id = checkProjectUserId(projectUserId)
      const left = await againIfRaced(() => store.dropUserProperties(pool, projectId, id, names, new Date()))
      if (!left) throw notFound()
      return left
    },
    /** Deletes the user with its devices, tokens and events. Deleting an unknown user succeeds. */
    async remove(projectId: ProjectId, projectUserId: unknown): Promise<void> {
      const id = checkProjectUserId(projectUserId)
      done(await settle(projectId, { kind: 'remove', projectUserId: id, properties: {} }))
    },
    /** Deletes a user as `remove` does, after the caller has counted what goes with it, in the same transaction. */
    async erase(projectId: ProjectId, projectUserId: unknown, before: store.BeforeRemoval): Promise<void> {
      await store.deleteUsers(pool, projectId, [checkProjectUserId(projectUserId)], async (tx, ...about) => {
        await before(tx, ...about)
        await beforeRemoval(tx, ...about)
      })
    },
    /** Adds choices to those of named users, each of whom may have several; of a yes and a no, the no wins. */
    mergeChoices: (projectId: ProjectId, choices: readonly GivenChoices[]): Promise<void> =>
      againIfRaced(() => pool.transaction((tx) => mergeChoicesIn(tx, projectId, choices))),
    /** The same in the caller's transaction. */
    mergeChoicesIn,
    /** Deletes a batch of the users of a project that is being erased. */
    eraseWindow: store.eraseUserWindow,
    ...createUserSearch(pool),
    ...indexes,
    jobs: [...indexes.jobs, statisticsJob(pool)],
    /** Creates a user, and refuses if there is one of this id. */
    async createNew(projectId: ProjectId, projectUserId: unknown, properties: unknown = {}): Promise<store.StoredUser> {
      const id = checkProjectUserId(projectUserId)
      const user = { projectUserId: id, properties: checkProperties(properties) }
      const created = await insertUser(pool, projectId, user, new Date())
      if (!created) throw new Refusal('conflict', 'A user with this ID already exists.')
      return created
    },
    /**
     * Sets and removes properties at once, and refuses if others have changed them since `before`. A user that is as wanted
     * already stays as it is.
     */
    async change(projectId: ProjectId, projectUserId: unknown, change: PropertyChange): Promise<store.StoredUser> {
      const id = checkProjectUserId(projectUserId)
      for (const properties of [change.set, change.before ?? {}]) checkProperties(properties)
      const both = change.remove.filter((name) => Object.hasOwn(change.set, name))
      if (both.length > 0) throw new Refusal('invalid_properties', `remove: ${both[0]} is also in set`)
      const changed = await changeUser(pool, projectId, id, change, new Date())
      if (changed) return changed
      const found = await this.get(projectId, id)
      if (change.before && !isAsBefore(found.properties, change)) {
        // The caller's first attempt may have done it, and its response may be lost.
        if (isAsWanted(found.properties, change)) return found
        throw new Refusal('conflict', changedByOthers)
      }
      throw tooLarge()
    },
    async get(projectId: ProjectId, projectUserId: unknown): Promise<store.StoredUser> {
      const [user] = await store.findUsers(pool, projectId, [checkProjectUserId(projectUserId)])
      if (!user) throw notFound()
      return user
    }
  }
}

/** Returns the outcome of a write, or throws its refusal. */
function done(outcome: Outcome): Exclude<Outcome, Refusal> {
  if (outcome instanceof Refusal) throw outcome
  return outcome
}

/** Prepares a user for `putUsers`; undefined if the command is refused. */
export function drawUser(command: CreateUser): store.DrawnUser | undefined {
  const change = checked(command)
  if (change instanceof Refusal) return undefined
  return { drawn: newId(), projectUserId: change.projectUserId, properties: JSON.stringify(change.properties) }
}

/** A statement can write a user once: a second write of the same one waits for the next. */
function wavesOf<Change extends store.Change>(changes: Change[]): Change[][] {
  const waves: Change[][] = []
  const times = new Map<string, number>()
  for (const change of changes) {
    const before = times.get(change.projectUserId) ?? 0
    times.set(change.projectUserId, before + 1)
    waves[before] ??= []
    waves[before].push(change)
  }
  return waves
}

function checked({ projectUserId, properties }: CreateUser): store.Change | Refusal {
  try {
    const id = checkProjectUserId(projectUserId, 'projectUserId')
    return { projectUserId: id, properties: checkProperties(properties) }
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Whether the properties that a change names are still those that it starts from. */
const isAsBefore = (now: Properties, { set, remove, before = {} }: PropertyChange) =>
  areAs(before, now, [...Object.keys(before), ...Object.keys(set), ...remove])

/** Whether the properties that a change names are those that it leads to. */
function isAsWanted(now: Properties, { set, remove, before = {} }: PropertyChange): boolean {
  const kept = Object.entries(before).filter(([name]) => !remove.includes(name))
  return areAs({ ...Object.fromEntries(kept), ...set }, now, [...Object.keys(before), ...Object.keys(set), ...remove])
}

const areAs = (wanted: Properties, now: Properties, names: string[]) =>
  names.every((name) => Object.hasOwn(now, name) === Object.hasOwn(wanted, name) && now[name] === wanted[name])

const changedByOthers = 'Someone else has changed these properties. Read the user again.'

const nothing: Outcome = { properties: {} }

function asObject(entry: unknown): Fields {
  if (isObject(entry)) return entry
  throw new Refusal('malformed_body', 'must be a JSON object such as {"project_user_id":"ana","properties":{}}')
}

const notFound = () => new Refusal('not_found', 'No user has this project_user_id.')

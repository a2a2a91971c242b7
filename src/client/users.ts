import type { CallOptions, Transport } from './request.ts'
import type { Consent, DeviceRegistration, NewUser, Preferences, PreferencesChange, Properties } from './schemas.ts'

/** One request takes so many. */
const mostAtOnce = 1_000

export interface RefusedUser {
  /** The place in the list that was passed. */
  index: number
  error: string
  code: string
}

/** A user from elsewhere, with its devices. Without an id, the devices belong to anonymous users. */
export interface ImportedUser {
  project_user_id?: string
  properties?: Properties
  preferences?: { opted_out?: boolean; topics?: Record<string, boolean> }
  /** RFC 3339. Of this time and the stored one, the earlier stays. */
  created_at?: string
  /** RFC 3339. Of this time and the stored one, the later stays. */
  last_seen_at?: string
  devices?: (DeviceRegistration & { created_at?: string; last_seen_at?: string })[]
}

export interface Imported {
  users: number
  devices: number
  /** The parts that were not stored, by the place of their user in the list that was passed. */
  errors: (RefusedUser & { path: string })[]
}

/** Users of the project, by your own ids. */
export function usersOf({ call }: Transport) {
  const of = (project_user_id: string) => ({ path: { project_user_id } })
  return {
    /** Creates a user, or changes the given properties of one that exists. Returns all its properties. */
    async create(userId: string, properties?: Properties, options?: CallOptions): Promise<Properties> {
      const body: NewUser = { project_user_id: userId, ...(properties && { properties }) }
      return (await call('createUser', { body }, { ...options, repeats: 'always' })).properties
    },
    /** Changes the given properties of a user that exists. Returns all its properties. */
    async update(userId: string, properties: Properties, options?: CallOptions): Promise<Properties> {
      return (await call('updateUser', { ...of(userId), body: { properties } }, options)).properties
    },
    async get(userId: string, options?: CallOptions): Promise<Properties> {
      return (await call('getUser', of(userId), options)).properties
    },
    /** Deletes a user with its devices and events, for good. */
    async delete(userId: string, options?: CallOptions): Promise<void> {
      await call('deleteUser', of(userId), options)
    },
    /** Removes properties by name. Returns those that remain. */
    async removeProperties(userId: string, names: string[], options?: CallOptions): Promise<Properties> {
      const input = { ...of(userId), body: { names } }
      return (await call('removeUserProperties', input, { ...options, repeats: 'always' })).properties
    },
    /** Creates or changes any number of users, 1,000 in a request. Returns those that were refused; the others are stored. */
    async save(users: Iterable<NewUser> | AsyncIterable<NewUser>, options?: CallOptions): Promise<RefusedUser[]> {
      const refused: RefusedUser[] = []
      let [waiting, done]: [NewUser[], number] = [[], 0]
      const send = async () => {
        const { results } = await call('saveUsers', { body: { users: waiting } }, { ...options, repeats: 'always' })
        for (const [place, result] of results.entries())
          if ('error' in result) refused.push({ index: done + place, error: result.error, code: result.code })
        done += waiting.length
        waiting = []
      }
      for await (const user of users) {
        waiting.push(user)
        if (waiting.length === mostAtOnce) await send()
      }
      if (waiting.length > 0) await send()
      return refused
    },
    /** Stores any number of users with their devices and push tokens, 500 in a request. It can be repeated. */
    async import(
      users: Iterable<ImportedUser> | AsyncIterable<ImportedUser>,
      options?: CallOptions
    ): Promise<Imported> {
      const all: Imported = { users: 0, devices: 0, errors: [] }
      let [waiting, done]: [ImportedUser[], number] = [[], 0]
      const send = async () => {
        const sent = { body: { users: waiting } }
        const stored = await call('importUsers', sent, { ...options, repeats: 'always' })
        all.users += stored.stored_users
        all.devices += stored.stored_devices
        all.errors.push(...stored.errors.map((error) => ({ ...error, index: done + error.index })))
        done += waiting.length
        waiting = []
      }
      for await (const user of users) {
        waiting.push(user)
        if (waiting.length === mostAtOnce / 2) await send()
      }
      if (waiting.length > 0) await send()
      return all
    },
    preferences: (userId: string, options?: CallOptions): Promise<Preferences> =>
      call('getUserPreferences', of(userId), options),
    changePreferences: (userId: string, change: PreferencesChange, options?: CallOptions): Promise<Preferences> =>
      call('updateUserPreferences', { ...of(userId), body: change }, options),
    /** The evidence of what a user chose: the latest yes and the latest no to each topic, and to messages at all. */
    consents: async (userId: string, options?: CallOptions): Promise<Consent[]> =>
      (await call('getUserConsents', of(userId), options)).consents
  }
}

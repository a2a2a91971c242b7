import { type CallOptions, newId, type Transport } from './request.ts'
import type {
  ClientDevice,
  ClientEvent,
  DeviceRegistration,
  NewEvent,
  Preferences,
  PreferencesChange
} from './schemas.ts'

type Scalar = string | number | boolean | null

/** Devices, their users and their tokens. All but `delete` also take a public key, in apps and pages. */
export function devicesOf({ call }: Transport) {
  const of = (device_id: string) => ({ path: { device_id } })
  const again = (options?: CallOptions) => ({ ...options, repeats: 'always' as const })
  return {
    /** Registers devices, or changes what is known about them. One bad entry, and none is stored. */
    async register(devices: DeviceRegistration[], options?: CallOptions): Promise<ClientDevice[]> {
      return (await call('registerDevices', { body: { devices } }, again(options))).devices
    },
    /** Deletes a device with its tokens. Takes a secret key. */
    async delete(deviceId: string, options?: CallOptions): Promise<void> {
      await call('deleteDevice', of(deviceId), options)
    },
    /** Logs a user in on a device. The user is created if there is none. */
    async logIn(deviceId: string, userId: string, options?: CallOptions): Promise<void> {
      await call('logInUser', { ...of(deviceId), body: { project_user_id: userId } }, again(options))
    },
    /** Logs the user out on a device, which then belongs to a new anonymous user. */
    async logOut(deviceId: string, options?: CallOptions): Promise<void> {
      await call('logOutUser', of(deviceId), options)
    },
    /** Sets properties of the user of a device. */
    async setUserProperties(
      deviceId: string,
      properties: Record<string, Scalar>,
      options?: CallOptions
    ): Promise<void> {
      const list = Object.entries(properties).map(([name, value]) => ({ name, value }))
      await call('setDeviceUserProperties', { ...of(deviceId), body: { properties: list } }, again(options))
    },
    async removeUserProperties(deviceId: string, names: string[], options?: CallOptions): Promise<void> {
      await call('removeDeviceUserProperties', { ...of(deviceId), query: { names: names.join(',') } }, options)
    },
    /** The preferences of the user of a device. */
    preferences: (deviceId: string, options?: CallOptions): Promise<Preferences> =>
      call('getDevicePreferences', of(deviceId), options),
    changePreferences: (deviceId: string, change: PreferencesChange, options?: CallOptions): Promise<Preferences> =>
      call('updateDevicePreferences', { ...of(deviceId), body: change }, options),
    /** Registers the token that starts Live Activities of a type. */
    async registerLiveActivityStartToken(
      deviceId: string,
      token: { attributes_type: string; push_to_start_token: string },
      options?: CallOptions
    ): Promise<void> {
      await call('registerLiveActivityStartToken', { ...of(deviceId), body: token }, again(options))
    },
    /** Registers the token that updates and ends a running Live Activity. */
    async registerLiveActivityUpdateToken(
      deviceId: string,
      token: { attributes_type: string; activity_id: string; push_token: string },
      options?: CallOptions
    ): Promise<void> {
      await call('registerLiveActivityUpdateToken', { ...of(deviceId), body: token }, again(options))
    },
    /** The key with which browsers subscribe (applicationServerKey). */
    async webPushPublicKey(options?: CallOptions): Promise<string> {
      return (await call('getWebPushPublicKey', {}, options)).public_key
    }
  }
}

/** What users did. */
export function eventsOf({ call }: Transport) {
  return {
    /**
     * Records events, up to 1,000 at once. One bad entry, and none is stored. An event without an `id` gets one, so that a
     * repeat stores it once.
     */
    async track(events: NewEvent[], options?: CallOptions): Promise<ClientEvent[]> {
      const named = events.map((event) => (event.id ? event : { ...event, id: newId() }))
      return (await call('trackEvents', { body: { events: named } }, { ...options, repeats: 'always' })).events
    }
  }
}

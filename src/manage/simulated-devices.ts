import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { type Devices, readDevice, type SentDevice } from '../devices/devices.ts'
import { printable, saying } from '../platform/http/schema.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { type Simulators, tokenFault } from '../simulator/simulator.ts'
import { checkProjectUserId } from '../users/users.ts'

export const SimulatedDevice = Type.Object({
  platform: Type.Unsafe<'IOS' | 'ANDROID' | 'WEB'>({ type: 'string', enum: ['IOS', 'ANDROID', 'WEB'] }),
  device_id: Type.Optional(Type.String({ description: 'Made up unless given.' })),
  project_user_id: Type.Optional(Type.String({ description: 'Who uses it. Unless given nobody, or who did before.' })),
  fault: Type.Optional(
    Type.String({
      ...saying(tokenFault.rule, tokenFault.pattern),
      maxLength: 64,
      description: 'What every push to it meets, as in a token: 410, slow:1500, flaky:2.'
    })
  ),
  attributes_types: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255, ...printable }), {
      maxItems: 20,
      description: 'Live Activities that its app can start. iOS only; DeliveryActivityAttributes unless given.'
    })
  )
})

export interface SimulatedDeviceWish {
  platform: 'IOS' | 'ANDROID' | 'WEB'
  id?: string | undefined
  projectUserId?: string | undefined
  /** As in a token: `410`, `slow:1500`. Every push to the device meets it. */
  fault?: string | undefined
  /** Types of Live Activities that the app on it can start; only for iOS. */
  attributesTypes?: readonly string[] | undefined
}

const usualAttributesType = 'DeliveryActivityAttributes'

const kinds = {
  IOS: { name: 'iphone', os_name: 'iOS', os_version: '26.0', model: 'Simulated iPhone', manufacturer: 'Apple' },
  ANDROID: { name: 'android', os_name: 'Android', os_version: '16', model: 'Simulated phone', manufacturer: 'Google' },
  WEB: { name: 'browser', os_name: 'Web', os_version: '1', model: 'Simulated browser', manufacturer: 'Tidings' }
} as const

/** A phone or browser that exists only in the simulator, registered as an app would register a real one. */
export async function addSimulatedDevice(
  { devices, simulators }: { devices: Devices; simulators: Pick<Simulators, 'subscribe'> },
  projectId: ProjectId,
  wish: SimulatedDeviceWish
) {
  const { name, ...facts } = kinds[wish.platform]
  const id = wish.id ?? `simulated-${name}-${newId().slice(-12)}`
  const sent: SentDevice = {
    ...facts,
    id,
    platform: wish.platform,
    app_name: 'Simulated app',
    app_version: '1.0.0',
    sdk_type: 'simulated',
    sdk_version: '1.0.0',
    locale_region: 'US',
    locale_language: 'en',
    timezone: 'UTC',
    is_push_permission_granted: true,
    ...(await tokenOf(simulators, projectId, wish))
  }
  // All that can be refused is refused before anything is stored.
  const input = readDevice(sent, 'device', undefined)
  if (wish.projectUserId !== undefined) checkProjectUserId(wish.projectUserId)
  await devices.put(projectId, [input])
  if (wish.projectUserId !== undefined) await devices.link(projectId, id, wish.projectUserId)
  if (wish.platform === 'IOS') {
    for (const attributesType of wish.attributesTypes ?? [usualAttributesType])
      await devices.setActivityToken(projectId, id, { attributesType, activityId: '', token: apnsToken(wish.fault) })
  }
  return devices.get(projectId, id)
}

async function tokenOf(
  simulators: Pick<Simulators, 'subscribe'>,
  projectId: ProjectId,
  { platform, fault }: SimulatedDeviceWish
): Promise<Pick<SentDevice, 'push_token' | 'push_token_type'>> {
  switch (platform) {
    case 'IOS':
      return { push_token: apnsToken(fault), push_token_type: 'APNS' }
    case 'ANDROID':
      return { push_token: faulty(fault) ?? `${random(16)}:APA91b${random(100)}`, push_token_type: 'FCM' }
    case 'WEB': {
      const label = faulty(fault)
      const push_token = await simulators.subscribe(projectId, label === undefined ? {} : { label })
      return { push_token, push_token_type: 'WEBPUSH' }
    }
  }
}

const random = (bytes: number) => randomBytes(bytes).toString('base64url')
const faulty = (fault: string | undefined) => fault && `sim-${fault}-${newId()}`
const apnsToken = (fault: string | undefined) => faulty(fault) ?? randomBytes(32).toString('hex')

/** Somebody to send to, for whoever has just started the service. Doing it again changes nothing but tokens. */
export async function furnishDemo(
  rooms: { devices: Devices; simulators: Pick<Simulators, 'subscribe'> },
  projectId: ProjectId
): Promise<void> {
  const platforms = ['IOS', 'ANDROID', 'WEB'] as const
  await Promise.all(
    platforms.map((platform) =>
      addSimulatedDevice(rooms, projectId, { platform, id: `demo-${kinds[platform].name}`, projectUserId: demoUser })
    )
  )
}

const demoUser = 'demo-user'

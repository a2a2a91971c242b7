import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import { printable } from '../platform/http/schema.ts'
import { warn } from '../platform/http/warnings.ts'
import { type ApiAccess, type ApiCaller, checkIdentity, type Identity } from '../projects/projects.ts'
import type { Devices } from './devices.ts'
import { doubtsAbout } from './doubts.ts'
import { readDevice } from './fields.ts'
import { NamesQuery, readNames, readProperties, SentProperty } from './properties.ts'
import { sdkDevice } from './responses.ts'
import { DeviceAnswer, DeviceSchema } from './schemas.ts'

const params = { device_id: 'The id the app gave its device, percent-encoded.' }
const refusals = ['device_not_found', 'invalid_device_id'] as const
/** Only in projects that verify the identity of users. */
const ofIdentity = ['missing_user_token', 'invalid_user_token', 'user_token_mismatch'] as const
const PutBody = Type.Object({
  devices: Type.Array(DeviceSchema, { maxItems: 1_000, description: 'One bad entry, and none is stored.' })
})
const PutAnswer = Type.Object({ devices: Type.Array(DeviceAnswer, { description: 'By position, as stored.' }) })
const LinkBody = Type.Object({
  project_user_id: Type.String({ minLength: 1, maxLength: 512, description: 'Created if there is no such user.' })
})
const LinkAnswer = Type.Object({ device_id: Type.String(), project_user_id: Type.String() })
const PropertiesBody = Type.Object({
  properties: Type.Array(SentProperty, { maxItems: 1_000, description: 'Of the user the device belongs to.' })
})
const Token = Type.String({
  minLength: 1,
  maxLength: 4096,
  ...printable,
  description: 'As the system gave it to the app.'
})
const Words = (description: string) => Type.String({ minLength: 1, maxLength: 255, ...printable, description })
const attributes_type = Words('The Swift type of the attributes.')
const activity_id = Words('The id the system gave the activity.')
const StartToken = Type.Object({
  attributes_type,
  push_to_start_token: Type.Optional(Token),
  push_token: Type.Optional(Type.String({ ...Token, description: 'Another name for push_to_start_token.' }))
})
const UpdateToken = Type.Object({ attributes_type, activity_id, push_token: Token })
const Kept = { device_id: Type.String(), attributes_type }

/** Endpoints for apps, with a public key: devices, their users and their tokens. */
export function deviceRoutes(api: Routes<ApiCaller, ApiAccess>, devices: Devices, { userOf }: Identity): void {
  const one = '/devices/:device_id'

  api.post(
    '/devices',
    {
      operationId: 'registerDevices',
      summary: 'Register devices, or tell what changed about them',
      access: 'client',
      body: PutBody,
      maxBody: largestBody,
      warnsItself: true,
      fieldCodes: {
        devices: 'invalid_device',
        'devices[].id': 'invalid_device_id',
        'devices[].device_id': 'invalid_device_id'
      },
      answer: PutAnswer,
      refusals: ['invalid_device', 'invalid_device_id'],
      example: { devices: [{ id: 'ana-phone', platform: 'IOS', push_token: 'a1b2c3', push_token_type: 'APNS' }] }
    },
    async ({ caller, body, request, reply }) => {
      warn(reply, doubtsAbout(body.devices))
      const known = await devices.platformsFor(caller.project.id, body.devices)
      const app = appIdentifier(request)
      const read = body.devices.map((sent, index) =>
        readDevice(sent, `devices[${index}]`, app, known.get(sent.id ?? sent.device_id ?? ''))
      )
      return { devices: (await devices.put(caller.project.id, read)).map(sdkDevice) }
    }
  )

  api.delete(
    one,
    {
      summary: 'Delete a device, its tokens, and its user if the user is anonymous and has no other device',
      params,
      answer: Type.Object({}),
      refusals: ['invalid_device_id']
    },
    async ({ caller, params: { device_id } }) => {
      await devices.remove(caller.project.id, device_id)
      return {}
    }
  )

  api.post(
    `${one}/user/project-user-id`,
    {
      operationId: 'logInUser',
      summary: 'Log a user in on a device',
      access: 'client',
      params,
      body: LinkBody,
      fieldCodes: { project_user_id: 'invalid_project_user_id' },
      answer: LinkAnswer,
      refusals: [...refusals, 'invalid_project_user_id', ...ofIdentity],
      example: { project_user_id: 'ana' }
    },
    async ({ caller, params: { device_id }, body: { project_user_id }, request }) => {
      checkIdentity(await userOf(caller, request), project_user_id)
      await devices.link(caller.project.id, device_id, project_user_id)
      return { device_id, project_user_id }
    }
  )

  api.delete(
    `${one}/user/project-user-id`,
    {
      operationId: 'logOutUser',
      summary: 'Log the user out on a device',
      access: 'client',
      params,
      answer: Type.Object({}),
      refusals
    },
    async ({ caller, params: { device_id } }) => {
      await devices.unlink(caller.project.id, device_id)
      return {}
    }
  )

  api.post(
    `${one}/user/properties`,
    {
      operationId: 'setDeviceUserProperties',
      summary: 'Set properties of the user of a device',
      access: 'client',
      params,
      body: PropertiesBody,
      maxBody: 1024 * 1024,
      fieldCodes: { properties: 'invalid_properties' },
      answer: PropertiesBody,
      refusals: [...refusals, 'invalid_properties', 'properties_too_large', ...ofIdentity],
      example: { properties: [{ name: 'plan', type: 'USER_PROPERTY_TYPE_STRING', value: 'premium' }] }
    },
    async ({ caller, params: { device_id }, body: { properties }, request }) => {
      const proven = await userOf(caller, request)
      await devices.setProperties(caller.project.id, device_id, readProperties(properties), proven)
      // The response repeats the fields as they were sent, because each SDK reads its own spelling.
      return {
        properties: properties.map(({ name, type, value, value_string }) => ({ name, type, value, value_string }))
      }
    }
  )

  api.delete(
    `${one}/user/properties`,
    {
      operationId: 'removeDeviceUserProperties',
      summary: 'Remove properties of the user of a device',
      access: 'client',
      params,
      query: NamesQuery,
      answer: Type.Object({}),
      refusals: [...refusals, ...ofIdentity]
    },
    async ({ caller, params: { device_id }, query, request }) => {
      const proven = await userOf(caller, request)
      await devices.dropProperties(caller.project.id, device_id, readNames(query), proven)
      return {}
    }
  )

  api.post(
    `${one}/live-activity-start-tokens`,
    {
      operationId: 'registerLiveActivityStartToken',
      summary: 'Register the token that starts Live Activities of a type',
      access: 'client',
      params,
      body: StartToken,
      answer: Type.Object(Kept),
      refusals,
      example: { attributes_type: 'DeliveryAttributes', push_to_start_token: 'a1b2c3' }
    },
    async ({ caller, params: { device_id }, body: { attributes_type, push_to_start_token, push_token } }) => {
      const token = push_to_start_token ?? push_token
      if (token === undefined) {
        const fault = { path: 'push_to_start_token', message: 'must be given' }
        throw new Refusal('malformed_body', `${fault.path}: ${fault.message}`, [fault])
      }
      await devices.setActivityToken(caller.project.id, device_id, {
        attributesType: attributes_type,
        activityId: '',
        token
      })
      return { device_id, attributes_type }
    }
  )

  api.post(
    `${one}/live-activity-update-tokens`,
    {
      operationId: 'registerLiveActivityUpdateToken',
      summary: 'Register the token that updates and ends a running Live Activity',
      access: 'client',
      params,
      body: UpdateToken,
      answer: Type.Object({ ...Kept, activity_id }),
      refusals,
      example: { attributes_type: 'DeliveryAttributes', activity_id: '3F2B', push_token: 'a1b2c3' }
    },
    async ({ caller, params: { device_id }, body: { attributes_type, activity_id, push_token } }) => {
      await devices.setActivityToken(caller.project.id, device_id, {
        attributesType: attributes_type,
        activityId: activity_id,
        token: push_token
      })
      return { device_id, attributes_type, activity_id }
    }
  )
}

/** SDKs send the id of their app in a header; a value that cannot be an id counts as absent. */
function appIdentifier(request: FastifyRequest): string | undefined {
  const value = request.headers['x-service-app-identifier']
  return typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value) ? value : undefined
}

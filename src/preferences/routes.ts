import type { Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller, Identity } from '../projects/projects.ts'
import { viaOf } from './consents.ts'
import type { PreferencesRoom } from './preferences.ts'
import { ConsentsAnswer, PreferencesAnswer, PreferencesBody } from './schemas.ts'

const example = { topics: { offers: true }, consent: { source: 'checkout', text: '2026-03' } }

/** Preferences of a user, for backends, and of the user of a device, for apps. */
export function preferenceRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  preferences: PreferencesRoom,
  { userOf }: Identity
): void {
  const user = {
    params: { project_user_id: "The project's own id of the user, percent-encoded." },
    answer: PreferencesAnswer,
    wording: { absent: 'empty' as const },
    refusals: ['not_found', 'invalid_project_user_id'] as const
  }
  api.get(
    '/users/:project_user_id/preferences',
    { summary: 'Read the preferences of a user', ...user },
    ({ caller, params }) => preferences.ofUser(caller.project.id, params.project_user_id)
  )
  api.patch(
    '/users/:project_user_id/preferences',
    { summary: 'Change preferences of a user', ...user, body: PreferencesBody, example },
    ({ caller, params, body }) =>
      preferences.changeOfUser(caller.project.id, params.project_user_id, body, viaOf(caller))
  )

  api.get(
    '/users/:project_user_id/consents',
    { summary: 'Read the evidence of what a user chose', ...user, answer: ConsentsAnswer },
    async ({ caller, params }) => ({
      consents: await preferences.consentsOfUser(caller.project.id, params.project_user_id)
    })
  )

  const device = {
    access: 'client' as const,
    params: { device_id: 'The id the app gave its device, percent-encoded.' },
    answer: PreferencesAnswer,
    refusals: [
      'device_not_found',
      'invalid_device_id',
      'missing_user_token',
      'invalid_user_token',
      'user_token_mismatch'
    ] as const
  }
  api.get(
    '/devices/:device_id/preferences',
    { summary: 'Read the preferences of the user of a device', ...device },
    async ({ caller, params, request }) =>
      preferences.ofDevice(caller.project.id, params.device_id, await userOf(caller, request))
  )
  api.patch(
    '/devices/:device_id/preferences',
    { summary: 'Change preferences of the user of a device', ...device, body: PreferencesBody, example },
    async ({ caller, params, body, request }) => {
      const proven = await userOf(caller, request)
      return preferences.changeOfDevice(caller.project.id, params.device_id, proven, body, viaOf(caller))
    }
  )
}

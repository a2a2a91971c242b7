import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Simulators } from '../simulator/simulator.ts'

const Subscription = Type.Object({
  endpoint: Type.String(),
  keys: Type.Object({ p256dh: Type.String(), auth: Type.String() })
})
const Pushes = Type.Object({
  items: Type.Array(
    Type.Object({
      payload: Type.Unknown({ description: 'What the simulated push service decrypted: docs/reference/payloads.md.' })
    }),
    { description: 'Oldest first.' }
  ),
  after: Type.String({ description: 'Send it as `after` with the next request.' })
})
const refusals = ['project_is_live'] as const

/**
 * A push service for browsers in projects of mode simulator. The browser client uses it in place of the browser's own
 * one, so that a page shows a push without any account and without a network.
 */
export function simulatedWebPushRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  { subscribe, inbox }: Pick<Simulators, 'subscribe' | 'inbox'>
): void {
  api.post(
    '/web-push/simulated-subscriptions',
    {
      operationId: 'createSimulatedSubscription',
      internal: true,
      summary: 'Make a subscription at the simulated push service, in a project of mode simulator',
      access: 'client',
      answer: Subscription,
      refusals
    },
    ({ caller }) => subscribe(simulated(caller))
  )

  api.get(
    '/web-push/simulated-pushes',
    {
      operationId: 'listSimulatedPushes',
      internal: true,
      summary: 'Read the pushes that the simulated push service accepted for a browser',
      access: 'client',
      query: Type.Object({
        device_id: Type.String({ maxLength: 255, description: 'The device of this browser.' }),
        after: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,18}$', description: 'From the last response. Absent: from now on.' })
        )
      }),
      answer: Pushes,
      refusals
    },
    async ({ caller, query: { device_id, after } }) => {
      const { items, last } = await inbox.since(simulated(caller), after ?? null, device_id)
      const accepted = items.filter(({ gateway, answer }) => gateway === 'webpush' && answer.status === 201)
      return { items: accepted.map(({ request }) => ({ payload: request.payload })), after: last }
    }
  )
}

function simulated({ project }: ApiCaller): ProjectId {
  if (project.mode === 'simulator') return project.id
  throw new Refusal('project_is_live', `The project ${project.id} is live: browsers use their own push service.`)
}

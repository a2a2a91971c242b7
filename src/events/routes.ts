import { Type } from '@sinclair/typebox'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Events } from './events.ts'
import { readEvent, wireEvent } from './fields.ts'
import { EventAnswer, SentEvent } from './schemas.ts'

const Body = Type.Object({
  events: Type.Array(SentEvent, { maxItems: 1_000, description: 'One bad entry, and none is stored.' })
})

export function eventRoutes(api: Routes<ApiCaller, ApiAccess>, events: Events): void {
  api.post(
    '/events',
    {
      operationId: 'trackEvents',
      summary: 'Record what users did',
      access: 'client',
      body: Body,
      maxBody: largestBody,
      fieldCodes: { events: 'invalid_event' },
      answer: Type.Object({ events: Type.Array(EventAnswer, { description: 'By position, as stored.' }) }),
      refusals: ['invalid_event', 'invalid_device_id', 'device_not_found'],
      example: {
        events: [{ device_id: 'ana-phone', name: 'purchase', event_property: { custom_properties: { amount: 12.5 } } }]
      }
    },
    async ({ caller, body }) => {
      const now = new Date()
      const read = body.events.map((sent, index) => readEvent(sent, `events[${index}]`, now))
      const stored = await events.record(caller.project.id, read)
      return { events: stored.map((event) => wireEvent(event, event.userId)) }
    }
  )
}

import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import { type Devices, ManagedDevice, managedDevice } from '../devices/devices.ts'
import type { Events } from '../events/events.ts'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { Watching } from '../platform/http/streams/watching.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { Following, PhonesChanged, Simulators } from '../simulator/simulator.ts'
import { identity } from '../users/users.ts'
import { phoneRoutes } from './phone-routes.ts'
import { addSimulatedDevice, SimulatedDevice } from './simulated-devices.ts'
import { simulatedProject } from './simulated-project.ts'
import { FaultsAnswer, FaultsBody, InboxAnswer } from './simulator-schemas.ts'

type Manage = Routes<ManageCaller, ManageAccess>

const path = '/projects/:project_id/simulator'
const refusals = ['project_is_live'] as const

/** The simulated gateways of a project: inbox, faults and simulated devices. */
export function simulatorRoutes(
  manage: Manage,
  around: { simulators: Simulators; devices: Devices; events: Events; pool: Pool; watching: Watching }
): void {
  const { simulators, devices, pool, watching } = around
  inboxRoutes(manage, simulators, watching)
  faultRoutes(manage, simulators)
  deviceRoute(manage, simulators, devices, pool)
  phoneRoutes(manage, around)
}

function inboxRoutes(manage: Manage, simulators: Simulators, watching: Watching): void {
  const { inbox } = simulators
  manage.get(
    `${path}/inbox`,
    {
      summary: 'Read the pushes at the simulated gateways, or follow them as server-sent events',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        device_id: Type.Optional(Type.String({ maxLength: 512, description: 'Only pushes to this device.' })),
        message_id: Type.Optional(
          Type.String({ maxLength: 512, description: 'Only pushes of this message. A stream takes no such filter.' })
        ),
        phones: Type.Optional(
          Type.Boolean({ description: 'true: a stream also has an event `phones` when phones have changed.' })
        )
      }),
      answer: pageOf(InboxAnswer),
      refusals: [...refusals, 'rate_limited'],
      unlimited: true
    },
    async ({ caller, query: { limit = defaultLimit, cursor, phones, ...query }, request, reply }) => {
      const { device_id = null, message_id = null } = query
      const projectId = simulatedProject(caller)
      if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) {
        const before = cursor === undefined ? null : numberIn(cursor)
        const wanted = { before, deviceId: device_id, messageId: message_id, limit: limit + 1 }
        const rows = await inbox.list(projectId, wanted)
        return page(
          rows,
          limit,
          ({ number }) => encodeCursor(number),
          ({ item }) => item
        )
      }
      const seen = request.headers['last-event-id']
      const after = typeof seen === 'string' && isNumber(seen) ? seen : null
      const closing = AbortSignal.any([watching({ caller, request, reply }), simulators.ending])
      const followed = inbox.follow(projectId, after, device_id, closing, phones)
      // Awaited before the headers, so that a failure at the start still becomes an error response.
      await followed.next()
      reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type('text/event-stream; charset=utf-8')
      return reply.send(Readable.from(events(followed), { objectMode: false, highWaterMark: 64 * 1024 }))
    }
  )

  manage.get(
    `${path}/inbox/:item_id`,
    {
      operationId: 'getProjectSimulatorPush',
      summary: 'Read one push at a simulated gateway: the request, the response and its time',
      access: 'viewer',
      answer: InboxAnswer,
      params: { item_id: 'The id of the push in the inbox.' },
      refusals: [...refusals, 'not_found']
    },
    ({ caller, params }) => simulators.phones.look(simulatedProject(caller), params.item_id!)
  )

  manage.delete(
    `${path}/inbox`,
    {
      operationId: 'emptyProjectSimulatorInbox',
      summary: 'Empty the inbox',
      access: 'editor',
      answer: Type.Object({}),
      refusals
    },
    async ({ caller }) => {
      await inbox.clear(simulatedProject(caller))
      await simulators.phones.clear(simulatedProject(caller))
      return {}
    }
  )
}

function faultRoutes(manage: Manage, simulators: Simulators): void {
  manage.get(
    `${path}/faults`,
    { summary: 'Read the faults of the simulated gateways', access: 'viewer', answer: FaultsAnswer, refusals },
    ({ caller }) => simulators.faults(simulatedProject(caller))
  )

  manage.put(
    `${path}/faults`,
    {
      operationId: 'changeProjectSimulatorFaults',
      summary: 'Change faults of the simulated gateways; the others stay',
      access: 'editor',
      body: FaultsBody,
      answer: FaultsAnswer,
      refusals: [...refusals, 'invalid_parameter'],
      example: { apns: { down: true }, all: { latency_ms: 100 } }
    },
    ({ caller, body }) => simulators.changeFaults(simulatedProject(caller), body)
  )

  manage.delete(
    `${path}/faults`,
    {
      operationId: 'resetProjectSimulatorFaults',
      summary: 'Reset all faults',
      access: 'editor',
      answer: FaultsAnswer,
      refusals
    },
    ({ caller }) => simulators.resetFaults(simulatedProject(caller))
  )
}

function deviceRoute(manage: Manage, simulators: Simulators, devices: Devices, pool: Pool): void {
  manage.post(
    `${path}/devices`,
    {
      summary: 'Register a simulated phone or browser',
      access: 'editor',
      body: SimulatedDevice,
      answer: ManagedDevice,
      status: 201,
      refusals: [...refusals, 'invalid_device', 'invalid_device_id', 'invalid_project_user_id'],
      fieldCodes: { device_id: 'invalid_device_id', project_user_id: 'invalid_project_user_id' },
      example: { platform: 'IOS', project_user_id: 'ana' }
    },
    async ({ caller, body }) => {
      const projectId = simulatedProject(caller)
      const device = await addSimulatedDevice({ devices, simulators }, projectId, {
        platform: body.platform,
        id: body.device_id,
        projectUserId: body.project_user_id,
        fault: body.fault,
        attributesTypes: body.attributes_types
      })
      await simulators.phones.install(projectId, device.id)
      // A device that already exists keeps its user, unless another one is given.
      const names = await identity.namesOf(pool, projectId, [device.user_id])
      return managedDevice(device, names.get(device.user_id) ?? null)
    }
  )
}

async function* events(followed: AsyncGenerator<Following | PhonesChanged | null>): AsyncGenerator<string> {
  yield ': follows\n\n'
  for await (const each of followed) {
    if (each === null) yield ': alive\n\n'
    else if ('phones' in each) yield `event: phones\ndata: ${JSON.stringify(each)}\n\n`
    else yield `id: ${each.number}\ndata: ${JSON.stringify(each.item)}\n\n`
  }
}

const isNumber = (text: string) => /^\d{1,18}$/.test(text)

function numberIn(cursor: string): string {
  const [number] = decodeCursor(cursor, 1)
  if (isNumber(number!)) return number!
  throw new Refusal('invalid_parameter', 'cursor: is not one that was given out', [
    { path: 'cursor', message: 'is not one that was given out' }
  ])
}

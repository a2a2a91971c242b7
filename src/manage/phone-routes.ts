import { Type } from '@sinclair/typebox'
import { type DeviceSearch, type Devices, ManagedDevice, managedDevice } from '../devices/devices.ts'
import type { Events } from '../events/events.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery, timeOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { Phone, Simulators } from '../simulator/simulator.ts'
import { identity } from '../users/users.ts'
import { OpenedAnswer, PhoneChange, PhoneQuery, PhoneState, Tap } from './phone-schemas.ts'
import { registerAgain } from './simulated-devices.ts'
import { simulatedProject } from './simulated-project.ts'

interface Around {
  simulators: Simulators
  devices: Devices
  events: Events
  pool: Pool
}

type Found = Awaited<ReturnType<Devices['search']>>[number]

export const PhoneAnswer = Type.Object({ ...ManagedDevice.properties, phone: PhoneState })
const path = '/projects/:project_id/simulator'
const refusals = ['project_is_live'] as const
/** Phones that something was just sent to, at most. */
const mostRecent = 100

/** The simulated phones of a project: their screens, and what a person does with them. */
export function phoneRoutes(manage: Routes<ManageCaller, ManageAccess>, around: Around): void {
  const { simulators, devices } = around
  listRoutes(manage, around)

  manage.patch(
    `${path}/devices/:device_id`,
    {
      summary: 'Take a simulated phone offline or online, allow or deny pushes, uninstall or reinstall its app',
      access: 'editor',
      body: PhoneChange,
      answer: PhoneAnswer,
      refusals: [...refusals, 'device_not_found', 'invalid_device_id'],
      example: { online: false }
    },
    async ({ caller, params, body: { online, installed, push_permission } }) => {
      const projectId = simulatedProject(caller)
      const device = await devices.get(projectId, params.device_id)
      if (installed === false)
        await simulators.phones.uninstall(projectId, device.id, await devices.tokensOf(projectId, device.id))
      if (installed === true) {
        await registerAgain(around, projectId, device, { permission: true, freshToken: true })
        await simulators.phones.install(projectId, device.id)
      }
      if (push_permission !== undefined) await changePermission(around, projectId, device, push_permission)
      if (online !== undefined) await simulators.phones.setOnline(projectId, device.id, online)
      return phone(around, projectId, await devices.get(projectId, device.id))
    }
  )

  manage.delete(
    `${path}/devices/:device_id`,
    {
      summary: 'Remove a simulated phone: its device, its tokens and its screen',
      access: 'editor',
      answer: Type.Object({}),
      refusals: [...refusals, 'invalid_device_id']
    },
    async ({ caller, params }) => {
      const projectId = simulatedProject(caller)
      await devices.remove(projectId, params.device_id)
      await simulators.phones.forget(projectId, params.device_id!)
      return {}
    }
  )

  notificationRoutes(manage, around)
}

function listRoutes(manage: Routes<ManageCaller, ManageAccess>, around: Around): void {
  const { devices } = around
  manage.get(
    `${path}/devices`,
    {
      summary: 'List simulated phones with their screens',
      access: 'viewer',
      query: Type.Object({ ...pageQuery, ...PhoneQuery }),
      answer: pageOf(PhoneAnswer),
      refusals
    },
    async ({ caller, query }) => {
      const projectId = simulatedProject(caller)
      const { limit = defaultLimit, cursor } = query
      const after = cursor === undefined ? undefined : cursorParts(cursor)
      await around.simulators.inbox.flushed(projectId)
      const recent = query.recent ? await around.simulators.phones.recent(projectId, mostRecent) : undefined
      const wanted = { ...(await filtersOf(around, projectId, query)), after }
      const among = recent && (wanted.among ? recent.filter((id) => wanted.among!.includes(id)) : recent)
      const rows = await devices.search(projectId, {
        ...wanted,
        ...(among && { among }),
        limit: recent ? mostRecent : limit + 1
      })
      if (recent) {
        const newest = rows.toSorted((one, two) => recent.indexOf(one.id) - recent.indexOf(two.id)).slice(0, limit)
        return { items: await phones(around, projectId, newest), next_cursor: null }
      }
      const shown = new Map((await phones(around, projectId, rows.slice(0, limit))).map((one) => [one.id, one]))
      return page(
        rows,
        limit,
        (row) => encodeCursor(row.created_at.toISOString(), row.id),
        ({ id }) => shown.get(id)!
      )
    }
  )

  manage.get(
    `${path}/devices/:device_id`,
    {
      summary: 'Read a simulated phone with its screen',
      access: 'viewer',
      answer: PhoneAnswer,
      refusals: [...refusals, 'device_not_found', 'invalid_device_id']
    },
    async ({ caller, params }) => {
      const projectId = simulatedProject(caller)
      await around.simulators.inbox.flushed(projectId)
      return phone(around, projectId, await devices.get(projectId, params.device_id))
    }
  )
}

function notificationRoutes(manage: Routes<ManageCaller, ManageAccess>, { simulators, events }: Around): void {
  const one = `${path}/inbox/:item_id([^:]+)`
  const params = { item_id: 'The id of the push in the inbox.' }
  const all = { access: 'editor', params, refusals: [...refusals, 'not_found', 'conflict'] } as const

  manage.post(
    `${one}::tap`,
    {
      ...all,
      operationId: 'tapProjectSimulatorPush',
      summary: 'Tap a notification on a simulated phone, or press one of its buttons; the app reports it',
      body: Tap,
      answer: OpenedAnswer,
      refusals: [...all.refusals, 'invalid_parameter']
    },
    async ({ caller, params: { item_id }, body: { action } }) => {
      const projectId = simulatedProject(caller)
      const { buttons = [], ...item } = await simulators.phones.look(projectId, item_id!)
      const button = action === undefined ? undefined : buttons.find(({ id }) => id === action)
      if (action !== undefined && !button) {
        const message =
          buttons.length > 0 ? `must be one of ${buttons.map(({ id }) => id).join(', ')}` : 'has no buttons'
        throw new Refusal('invalid_parameter', `action: ${message}`, [{ path: 'action', message }])
      }
      await checkOnline(simulators, projectId, item.device_id)
      await simulators.phones.take(projectId, item_id!, 'opened')
      if (item.message_id && item.device_id)
        await events.record(projectId, [tapOf(item.device_id, item.message_id, action)])
      return { landing_url: button?.landing_url ?? item.landing_url, message_id: item.message_id }
    }
  )

  manage.post(
    `${one}::dismiss`,
    {
      ...all,
      operationId: 'dismissProjectSimulatorPush',
      summary: 'Dismiss a notification on a simulated phone',
      answer: Type.Object({})
    },
    async ({ caller, params: { item_id } }) => {
      await simulators.phones.take(simulatedProject(caller), item_id!, 'dismissed')
      return {}
    }
  )
}

/** An app that is offline reports a tap later, which the simulator does not. */
async function checkOnline({ phones }: Simulators, projectId: ProjectId, deviceId: string | null): Promise<void> {
  const phone = deviceId === null ? undefined : (await phones.of(projectId, [deviceId])).get(deviceId)
  if (phone?.offline_since) throw new Refusal('conflict', 'The phone is offline: its app cannot report a tap.')
}

/** The event that SDKs record for a tap. */
const tapOf = (deviceId: string, messageId: string, action: string | undefined) => ({
  id: newId(),
  deviceId,
  messageId,
  name: 'PUSH_NOTIFICATION_TAPPED',
  at: new Date(),
  details: { source_type: 'SERVICE' },
  properties: action === undefined ? {} : { action }
})

/** A browser that loses its permission loses its subscription too, and gets another with the next one. */
async function changePermission(around: Around, projectId: ProjectId, device: Found, permission: boolean) {
  const { simulators, devices } = around
  const browser = device.platform === 'WEB'
  if (browser && !permission) await simulators.phones.kill(projectId, await devices.tokensOf(projectId, device.id))
  await registerAgain(around, projectId, device, { permission, freshToken: browser && permission })
}

type Filters = { search?: string; platform?: 'IOS' | 'ANDROID' | 'WEB'; project_user_id?: string; state?: string }

async function filtersOf(
  { simulators: { phones } }: Around,
  projectId: ProjectId,
  query: Filters
): Promise<Omit<DeviceSearch, 'limit'>> {
  const filters = {
    ...(query.search !== undefined && { text: query.search }),
    ...(query.platform && { platform: query.platform }),
    ...(query.project_user_id !== undefined && { projectUserId: query.project_user_id })
  }
  switch (query.state) {
    case 'offline':
    case 'uninstalled':
      return { ...filters, among: await phones.inState(projectId, query.state) }
    case 'denied':
      return { ...filters, permission: false }
    case 'reachable': {
      const except = await phones.inState(projectId, 'offline', 'uninstalled')
      return { ...filters, except, permission: true, token: true }
    }
    case 'unreachable':
      return { ...filters, token: false }
    default:
      return filters
  }
}

async function phones({ simulators, pool }: Around, projectId: ProjectId, rows: Found[]) {
  const screens = await simulators.phones.of(
    projectId,
    rows.map(({ id }) => id)
  )
  const names = await namesOf(pool, projectId, rows)
  return rows.map((row) => ({
    ...managedDevice(row, names.get(row.user_id) ?? null),
    phone: shownPhone(screens.get(row.id)!)
  }))
}

const phone = async (around: Around, projectId: ProjectId, row: Found) => (await phones(around, projectId, [row]))[0]!

const namesOf = (pool: Db, projectId: ProjectId, rows: Found[]) =>
  identity.namesOf(pool, projectId, [...new Set(rows.map(({ user_id }) => user_id))])

const shownPhone = ({ offline_since, uninstalled_at, ...screen }: Phone) => ({
  online: offline_since === null,
  offline_since: offline_since?.toISOString() ?? null,
  installed: uninstalled_at === null,
  uninstalled_at: uninstalled_at?.toISOString() ?? null,
  ...screen
})

function cursorParts(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), id!]
}

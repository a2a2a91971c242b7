import { type Devices, managedDevice } from '../../devices/devices.ts'
import { historyOf, managedEvent } from '../../events/events.ts'
import { listJourneys } from '../../journeys/journeys.ts'
import { listMessages } from '../../messages/messages.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { PreferencesRoom } from '../../preferences/preferences.ts'
import { conversionsOfUser } from '../../stats/stats.ts'
import { skipsOfUser } from '../../triggers/triggers.ts'
import type { StoredUser } from '../../users/users.ts'

export interface ExportNeeds {
  pool: Pool
  devices: Devices
  preferences: PreferencesRoom
}

const mostDevices = 10_000
const rowsOfPage = 500

/** Everything that is stored about a user, as the text of one JSON object, piece by piece. */
export async function* everythingAbout(
  { pool, devices, preferences }: ExportNeeds,
  projectId: ProjectId,
  user: StoredUser
): AsyncGenerator<string> {
  const name = user.projectUserId
  const head = {
    exported_at: new Date(),
    project_id: projectId,
    user: {
      id: user.id,
      project_user_id: name,
      properties: user.properties,
      created_at: user.createdAt,
      updated_at: user.updatedAt
    },
    preferences: await preferences.ofUser(projectId, name),
    consents: await preferences.consentsOfUser(projectId, name)
  }
  yield JSON.stringify(head).slice(0, -1)
  yield* list('devices', devicePages(devices, projectId, user))
  yield* list('events', eventPages(pool, projectId, user))
  yield* list('messages', messagePages(pool, projectId, name))
  yield* list(
    'journeys',
    pagesById((after) => listJourneys(pool, projectId, user.id, after, rowsOfPage))
  )
  yield* list('conversions', single(await conversionsOfUser(pool, projectId, user.id)))
  yield* list('skips', single(await skipsOfUser(pool, projectId, user.id)))
  yield '}\n'
}

/** A field of the object whose list is written page by page. */
async function* list(field: string, pages: AsyncIterable<unknown[]>): AsyncGenerator<string> {
  yield `,${JSON.stringify(field)}:[`
  let first = true
  for await (const page of pages) {
    if (page.length === 0) continue
    yield (first ? '' : ',') + JSON.stringify(page).slice(1, -1)
    first = false
  }
  yield ']'
}

async function* single(rows: unknown[]): AsyncGenerator<unknown[]> {
  yield rows
}

/** A token is data about a person too, so the export has all of it. */
async function* devicePages(devices: Devices, projectId: ProjectId, user: StoredUser): AsyncGenerator<unknown[]> {
  for (const row of await devices.ofUser(projectId, user.id, mostDevices))
    yield [{ ...managedDevice(row, user.projectUserId), tokens: await devices.tokensOf(projectId, row.id) }]
}

async function* eventPages(pool: Pool, projectId: ProjectId, user: StoredUser): AsyncGenerator<unknown[]> {
  for await (const rows of historyOf(pool, projectId, user.id))
    yield rows.map((row) => managedEvent(row, user.projectUserId))
}

async function* messagePages(pool: Pool, projectId: ProjectId, projectUserId: string): AsyncGenerator<unknown[]> {
  const all = { deviceId: undefined, triggerId: undefined, campaignId: undefined, status: undefined }
  let cursor: string | undefined
  do {
    const page = await listMessages(pool, projectId, { ...all, projectUserId, cursor, limit: rowsOfPage })
    yield page.items
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

async function* pagesById<Row extends { id: string }>(
  read: (after: string | null) => Promise<Row[]>
): AsyncGenerator<Row[]> {
  let after: string | null = null
  for (;;) {
    const rows: Row[] = await read(after)
    yield rows
    if (rows.length < rowsOfPage) return
    after = rows.at(-1)!.id
  }
}

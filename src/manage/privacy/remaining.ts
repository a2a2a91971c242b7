import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { findRetention } from '../../projects/projects.ts'
import { keptMs } from '../../webhooks/webhooks.ts'
import { changesLeft, entriesNaming, isOrdinary, type Traces } from './copies.ts'
import { definitionsNaming, keysNamedAfter } from './copies-store.ts'
import { type DeviceCopyTable, tablesWithCopies } from './device-store.ts'
import type { Remaining } from './erasure-store.ts'
import type { Unsearched } from './traces.ts'

export interface Keeping {
  taskDays: number
  auditDays: number
  idempotencyHours: number
}

export interface Left {
  traces: Traces
  /** How many tasks of agents that name the user were at work. */
  working: number
  unsearched: Unsearched | null
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** What still names the user, or may, after its copies were erased. */
export async function remainingOf(
  db: Db,
  projectId: ProjectId,
  { traces, working, unsearched }: Left,
  keeping: Keeping
): Promise<Remaining[]> {
  const { projectUserId } = traces
  const tasksEnd = after(keeping.taskDays * dayMs)
  const named = await keysNamedAfter(db, projectId, projectUserId)
  const entries = await entriesNaming(db, projectId, traces)
  const entriesEnd = after(keeping.auditDays * dayMs, entries.last)
  const messagesMs = ((await findRetention(db, projectId))?.messages_days ?? 0) * dayMs
  const changes = await changesLeft(db, projectId, traces)
  const written = await definitionsNaming(db, projectId, JSON.stringify(projectUserId))
  return [
    ...one('idempotency_keys', named.rows, 'Callers made their keys of the id.', named.until?.toISOString() ?? null),
    ...one('a2a_tasks', working, 'Tasks were at work. Repeat the erasure.', tasksEnd),
    ...(isOrdinary(projectUserId) ? [notSearched('a2a_tasks', ordinary, tasksEnd)] : []),
    ...one('audit_log', entries.rows, 'Your team wrote the id into it, such as into a note.', entriesEnd),
    ...changes.flatMap(({ open, rows, last }) =>
      one(
        'live_activity_changes',
        rows,
        open || !isOrdinary(projectUserId) ? beingSent : ordinaryValue,
        after(messagesMs, last)
      )
    ),
    ...Object.entries(written).flatMap(([table, rows]) => one(table, rows, reasonOf(table), null)),
    ...(unsearched ? await ofDevicesAlone(db, projectId, unsearched, { ...keeping, messagesMs }) : [])
  ]
}

/** Copies that name only a device: they can be found for devices alone that are known to be of the user and of no one else. */
async function ofDevicesAlone(
  db: Db,
  projectId: ProjectId,
  unsearched: Unsearched,
  { taskDays, auditDays, idempotencyHours, messagesMs }: Keeping & { messagesMs: number }
): Promise<Remaining[]> {
  const ends: Record<DeviceCopyTable, string | null> = {
    a2a_tasks: after(taskDays * dayMs),
    approvals: after(auditDays * dayMs),
    idempotency_keys: after(idempotencyHours * hourMs),
    // The inbox of a simulator keeps its newest pushes, however old they are.
    simulator_inbox: null,
    triggers: after(messagesMs),
    webhook_calls: after(keptMs.failed)
  }
  const filled = await tablesWithCopies(db, projectId)
  const tables = (Object.keys(ends) as DeviceCopyTable[]).filter((table) => filled[table])
  return tables.map((table) => notSearched(table, unsearchedReasons[unsearched], ends[table]))
}

const ordinary = 'The id may be an ordinary word, so it was not searched in the words of agents.'
const ordinaryValue = 'The id may be an ordinary word, so changes of channels that hold it were left.'
const beingSent = 'Changes of a channel were being sent. Repeat the erasure when they have ended.'
const unsearchedReasons: Record<Unsearched, string> = {
  deleted: 'No user has this id now, so its devices are unknown. Copies that name only a device may be left.',
  shared: 'Another user has used a device of this user. Copies that name only that device may be left.'
}

const reasonOf = (table: string) =>
  table === 'live_activity_channels'
    ? 'The state of a channel names the id, for everyone who listens. Its next change replaces it.'
    : 'Your team wrote the id into it.'

const after = (ms: number, from = new Date()) => new Date(from.getTime() + ms).toISOString()

const one = (table: string, rows: number, reason: string, until: string | null): Remaining[] =>
  rows === 0 ? [] : [{ table, rows, reason, until }]

const notSearched = (table: string, reason: string, until: string | null): Remaining => ({
  table,
  rows: 0,
  reason,
  until
})

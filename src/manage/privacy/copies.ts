import type { Db } from '../../platform/db/db.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { readJson } from '../../platform/json/names.ts'
import * as store from './copies-store.ts'

/** What names a user in copies. */
export interface Traces {
  projectUserId: string
  /** Null: the user was deleted before. */
  userId: string | null
  deviceIds: string[]
}

export type Counts = Record<string, number>

/**
 * An id of letters, or a short one, may be an ordinary word or value: it counts only where a field names an id, and not in the
 * words of agents, because the texts about others would be erased with it.
 */
export const isOrdinary = (id: string): boolean => id.length < 8 || /^\p{L}*$/u.test(id)

const namesOf = ({ projectUserId, userId, deviceIds }: Traces) => [
  projectUserId,
  ...(userId === null ? [] : [userId]),
  ...deviceIds
]
/** As it stands inside the quotes of JSON. */
const inJson = (name: string) => JSON.stringify(name).slice(1, -1)
/** As a value of JSON, also of JSON inside a string of JSON. */
const quotedForms = (name: string) => [`"${inJson(name)}"`, `\\"${inJson(inJson(name))}\\"`]
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Whether a text of JSON has the id of the user, as a value or as a word of a longer text, or the id of a device as a value. */
function mentions({ deviceIds, ...traces }: Traces): (text: string) => boolean {
  const users = namesOf({ ...traces, deviceIds: [] })
  const patterns = [...users.map((id) => patternOf(id, true)), ...deviceIds.map((id) => patternOf(id, false))]
  const pattern = new RegExp(patterns.join('|'), 'u')
  return (text) => pattern.test(text)
}

function patternOf(id: string, asWord: boolean): string {
  const safe = escaped(inJson(id))
  // Some JSON stands inside a string of JSON, with its quotes escaped.
  const value = `"${safe}\\\\?"`
  // A field such as project_user_id or deviceIds, or a stored target: ["project_user_id", "ana"].
  if (isOrdinary(id)) return `[iI]ds?\\\\?"\\s*[:,]\\s*(?:\\[[^\\]]{0,200})?\\\\?${value}`
  return asWord ? `${value}|(?<![\\p{L}\\p{N}_-])${safe}(?![\\p{L}\\p{N}_-])` : value
}

/** Copies that were deleted or rewritten. An erasure reads twice with one of these, so a row that it meets twice counts once. */
export class Touched {
  readonly #keys = new Map<string, Set<string>>()

  add(table: string, key: string): void {
    const keys = this.#keys.get(table)
    if (keys) keys.add(key)
    else this.#keys.set(table, new Set([key]))
  }

  /** Rows by table. */
  counts(): Counts {
    return Object.fromEntries(rewritten.map((table) => [table, this.#keys.get(table)?.size ?? 0]))
  }
}

const deleted = ['a2a_tasks', 'confirmations', 'approvals'] as const
const rewritten = [...deleted, 'triggers', 'webhook_events', 'webhook_calls', 'idempotency_keys']

/**
 * Removes a user from everything that keeps a copy: audiences of triggers, tasks of agents, webhook calls, stored responses,
 * questions and the inbox of simulators. Adds what it changes to `touched`. Returns the rows that name the user or a device in
 * a column and were deleted, by table, and how many tasks were at work and therefore left alone.
 */
export async function eraseCopies(
  db: Db,
  projectId: ProjectId,
  traces: Traces,
  touched: Touched
): Promise<{ named: Counts; working: number }> {
  const names = namesOf(traces)
  const about = { db, projectId, names, texts: names.map(inJson), mentioned: mentions(traces), touched }
  const working = await eraseRows(about)
  const texts = names.filter((name) => !isOrdinary(name)).flatMap(quotedForms)
  const named = await store.removeNamed(db, projectId, { names, deviceIds: traces.deviceIds, texts })
  await eraseTargets(about)
  await eraseWaiting(about)
  await eraseCalls(about)
  await eraseResponses(about)
  return { named, working }
}

/** Entries of the audit log into which your team wrote the id, such as the note of a decision, and when the last one was made. */
export async function entriesNaming(
  db: Db,
  projectId: ProjectId,
  traces: Traces
): Promise<{ rows: number; last: Date }> {
  const mentioned = mentions(traces)
  const times: number[] = []
  for await (const { text, more } of store.copiesIn(db, projectId, 'audit_log', namesOf(traces).map(inJson)))
    if (mentioned(text)) times.push(Date.parse(more!))
  return { rows: times.length, last: new Date(Math.max(0, ...times)) }
}

/**
 * Changes of channels that were not erased, and when the last of them is settled: open ones are being sent, and those that name
 * an ordinary id may mean something else.
 */
export function changesLeft(db: Db, projectId: ProjectId, traces: Traces) {
  const sure = namesOf(traces).filter((name) => name === traces.projectUserId || !isOrdinary(name))
  return store.changesNaming(db, projectId, sure.flatMap(quotedForms))
}

interface About {
  db: Db
  projectId: ProjectId
  names: string[]
  texts: string[]
  mentioned(text: string): boolean
  touched: Touched
}

type Target = [kind: string, value: string, properties?: object]

/**
 * Keeps the place of each target, because the cursor of a running trigger counts them. A new id names no user: such a
 * target is skipped as any other of an unknown user.
 */
async function eraseTargets({ db, projectId, names, texts, touched }: About): Promise<void> {
  for await (const { id, text } of store.copiesIn(db, projectId, 'triggers', texts)) {
    const { targets = [], ...audience } = readJson(text) as { targets?: Target[] }
    const left = targets.map((target): Target => {
      const [kind, value] = target
      if (!names.includes(value)) return target
      return [kind, kind === 'user_id' ? newId() : `erased-${newId()}`]
    })
    const changed = left.filter((target, place) => target !== targets[place]).length
    if (changed === 0) continue
    await store.setTriggerTargets(db, projectId, id, { ...audience, targets: left }, changed === targets.length)
    touched.add('triggers', id)
  }
}

/** A task at work is left to its end, which comes within seconds: the next erasure finds it. */
async function eraseRows({ db, projectId, texts, mentioned, touched }: About): Promise<number> {
  let working = 0
  for (const table of deleted)
    for await (const { id, text, more } of store.copiesIn(db, projectId, table, texts)) {
      if (!mentioned(text)) continue
      if (more === 'submitted' || more === 'working') working += 1
      else if (await store.removeCopy(db, projectId, table, id)) touched.add(table, id)
    }
  return working
}

async function eraseWaiting({ db, projectId, texts, mentioned, touched }: About): Promise<void> {
  for await (const { id, text } of store.copiesIn(db, projectId, 'webhook_events', texts)) {
    const events = readJson(text) as object[]
    const left = events.filter((event) => !mentioned(JSON.stringify(event)))
    if (left.length === events.length) continue
    if (left.length === 0) await store.removeCopy(db, projectId, 'webhook_events', id)
    else await store.setWaitingEvents(db, projectId, id, left)
    touched.add('webhook_events', id)
  }
}

/** A call may tell about several users: their events stay. A call that tells about a task is deleted with it. */
async function eraseCalls({ db, projectId, texts, mentioned, touched }: About): Promise<void> {
  for await (const { id, text } of store.copiesIn(db, projectId, 'webhook_calls', texts)) {
    if (!mentioned(text)) continue
    const { events, ...head } = readBody(text)
    const left = events?.filter((event) => !mentioned(JSON.stringify(event))) ?? []
    if (left.length === 0) await store.removeCopy(db, projectId, 'webhook_calls', id)
    else await store.setCallBody(db, projectId, id, JSON.stringify({ ...head, events: left }))
    touched.add('webhook_calls', id)
  }
}

function readBody(text: string): { events?: object[] } {
  const body: unknown = readJson(text)
  return typeof body === 'object' && body !== null && 'events' in body && Array.isArray(body.events)
    ? (body as { events: object[] })
    : {}
}

/** The response stays, because a repeat of the request gets it; names in it are replaced. */
async function eraseResponses({ db, projectId, names, texts, mentioned, touched }: About): Promise<void> {
  // Some responses are JSON inside a string of JSON.
  const quoted = names.flatMap((name) => [
    [`"${inJson(name)}"`, '"erased"'] as const,
    [`\\"${inJson(inJson(name))}\\"`, '\\"erased\\"'] as const
  ])
  const replaced = (text: string | null) =>
    text === null ? null : quoted.reduce((all, [from, to]) => all.replaceAll(from, to), text)
  for await (const row of store.keyCopies(db, projectId, texts)) {
    if (!mentioned(`${row.answer} ${row.work}`)) continue
    const answer = row.answer !== null && mentioned(row.answer) ? withoutTask(row.answer) : row.answer
    const now = { ...row, answer: replaced(answer), work: replaced(row.work) }
    if (now.answer === row.answer && now.work === row.work) continue
    await store.setKeyCopy(db, projectId, now)
    touched.add('idempotency_keys', `${row.scope} ${row.key}`)
  }
}

/** The response to an agent may be a whole task, which is erased: then only its id stays. */
function withoutTask(answer: string): string {
  const { task } = Object(readJson(answer)) as { task?: { id?: unknown } }
  return typeof task?.id === 'string' ? JSON.stringify({ taskId: task.id }) : answer
}

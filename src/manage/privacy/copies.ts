import type { Db } from '../../platform/db/db.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { readJson } from '../../platform/json/names.ts'
import { eraseApprovals, rejectWaiting } from './approval-copies.ts'
import * as store from './copies-store.ts'
import { type About, type Counts, type Eraser, rewriteEach, type Touched } from './rewriting.ts'
import { rewriteKeyCopy, setCallBody, setTriggerTargets, setWaitingEvents } from './rewriting-store.ts'

/** What names a user in copies. */
export interface Traces {
  projectUserId: string
  /** Null: the user was deleted before. */
  userId: string | null
  deviceIds: string[]
}

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

/**
 * Removes a user from everything that keeps a copy: audiences of triggers, tasks of agents, webhook calls, stored responses,
 * questions and the inbox of simulators. Adds what it changes to `touched`. Returns the rows that name the user or a device in
 * a column and were deleted, by table, and how many tasks were at work and therefore left alone.
 */
export async function eraseCopies(
  eraser: Eraser,
  projectId: ProjectId,
  traces: Traces,
  touched: Touched
): Promise<{ named: Counts; working: number }> {
  const names = namesOf(traces)
  const about = { ...eraser, projectId, names, texts: names.map(inJson), mentioned: mentions(traces), touched }
  // Before their tasks, which they end.
  await eraseApprovals(about)
  const working = await eraseRows(about)
  const texts = names.filter((name) => !isOrdinary(name)).flatMap(quotedForms)
  const named = await store.removeNamed(eraser.pool, projectId, { names, deviceIds: traces.deviceIds, texts })
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

type Target = [kind: string, value: string, properties?: object]

/**
 * Keeps the place of each target, because the cursor of a running trigger counts them. A new id names no user: such a
 * target is skipped as any other of an unknown user.
 */
const eraseTargets = (about: About): Promise<void> =>
  rewriteEach(about, 'triggers', {
    changeOf(text) {
      const { targets = [], ...audience } = readJson(text) as { targets?: Target[] }
      const left = targets.map((target): Target => {
        const [kind, value] = target
        if (!about.names.includes(value)) return target
        return [kind, kind === 'user_id' ? newId() : `erased-${newId()}`]
      })
      const changed = left.filter((target, place) => target !== targets[place]).length
      if (changed > 0) return { audience: { ...audience, targets: left }, alone: changed === targets.length }
    },
    write: (tx, id, { audience, alone }) => setTriggerTargets(tx, about.projectId, id, audience, alone)
  })

/** A task at work is left to its end, which comes within seconds: the next erasure finds it. */
async function eraseRows(about: About): Promise<number> {
  const { pool, projectId, texts, mentioned, touched } = about
  let working = 0
  for (const table of ['a2a_tasks', 'confirmations'] as const)
    for await (const { id, text, more } of store.copiesIn(pool, projectId, table, texts)) {
      if (!mentioned(text)) continue
      if (more === 'submitted' || more === 'working') {
        working += 1
        continue
      }
      if (more === 'auth-required') await rejectWaiting(about, text)
      if (await store.removeCopy(pool, projectId, table, id)) touched.add(table, id)
    }
  return working
}

const eraseWaiting = (about: About): Promise<void> =>
  rewriteEach(about, 'webhook_events', {
    changeOf(text) {
      const events = readJson(text) as object[]
      const left = events.filter((event) => !about.mentioned(JSON.stringify(event)))
      if (left.length < events.length) return left
    },
    write: (tx, id, left) =>
      left.length === 0
        ? store.removeCopy(tx, about.projectId, 'webhook_events', id)
        : setWaitingEvents(tx, about.projectId, id, left)
  })

/** A call may tell about several users: their events stay. A call that tells about a task is deleted with it. */
const eraseCalls = (about: About): Promise<void> =>
  rewriteEach(about, 'webhook_calls', {
    changeOf(text) {
      if (!about.mentioned(text)) return undefined
      const { events, ...head } = readBody(text)
      const left = events?.filter((event) => !about.mentioned(JSON.stringify(event))) ?? []
      return left.length === 0 ? '' : JSON.stringify({ ...head, events: left })
    },
    write: (tx, id, body) =>
      body === ''
        ? store.removeCopy(tx, about.projectId, 'webhook_calls', id)
        : setCallBody(tx, about.projectId, id, body)
  })

function readBody(text: string): { events?: object[] } {
  const body: unknown = readJson(text)
  return typeof body === 'object' && body !== null && 'events' in body && Array.isArray(body.events)
    ? (body as { events: object[] })
    : {}
}

/** The response stays, because a repeat of the request gets it; names in it are replaced. */
async function eraseResponses({ pool, projectId, names, texts, mentioned, touched }: About): Promise<void> {
  // Some responses are JSON inside a string of JSON.
  const quoted = names.flatMap((name) => [
    [`"${inJson(name)}"`, '"erased"'] as const,
    [`\\"${inJson(inJson(name))}\\"`, '\\"erased\\"'] as const
  ])
  const replaced = (text: string | null) =>
    text === null ? null : quoted.reduce((all, [from, to]) => all.replaceAll(from, to), text)
  const changeOf = (row: store.KeyCopy): store.KeyCopy | undefined => {
    if (!mentioned(`${row.answer} ${row.work}`)) return undefined
    const answer = row.answer !== null && mentioned(row.answer) ? withoutTask(row.answer) : row.answer
    const now = { ...row, answer: replaced(answer), work: replaced(row.work) }
    return now.answer === row.answer && now.work === row.work ? undefined : now
  }
  for await (const row of store.keyCopies(pool, projectId, texts))
    if (changeOf(row) && (await rewriteKeyCopy(pool, projectId, row, changeOf)))
      touched.add('idempotency_keys', `${row.scope} ${row.key}`)
}

/** The response to an agent may be a whole task, which is erased: then only its id stays. */
function withoutTask(answer: string): string {
  const { task } = Object(readJson(answer)) as { task?: { id?: unknown } }
  return typeof task?.id === 'string' ? JSON.stringify({ taskId: task.id }) : answer
}

import type { Db, Pool } from '../../platform/db/db.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { open, seal } from '../../platform/secrets/secrets.ts'
import { dialectOf } from '../dialects/choose.ts'
import type { ConfigListing, NewPushConfig } from '../dialects/dialect.ts'
import { AgentError, invalid, noTask } from '../errors.ts'
import { type DialectName, isTerminal, type LogEntry, type PushConfig, type Task, taskAt } from '../model.ts'
import { lockTask, markAttended } from '../tasks/store.ts'
import { openToken, sealToken } from './page-token.ts'
import { redacted, shown, withSecrets } from './redaction.ts'
import * as store from './store.ts'

/** A webhook call that a worker sends with retries, in order with the other calls of its order key. */
export interface OutgoingCall {
  id: string
  url: string
  headers: Record<string, string>
  body: string
  order: string | null
  source: { kind: 'task'; id: string }
}

export type Enqueue = (tx: Db, projectId: ProjectId, call: OutgoingCall) => Promise<void>
/** Deletes the waiting calls of an order key. */
export type DropCalls = (tx: Db, projectId: ProjectId, order: string) => Promise<unknown>
/** Returns the reason why an address may not be called, in words for people; null if it may be called. */
export type RefuseAddress = (url: string, projectId: ProjectId) => Promise<string | null>

/** The most webhooks of one task. Each receives each change. */
const mostConfigs = 10

export type Configs = ReturnType<typeof createConfigs>

/** The webhooks of tasks, and the calls to them when a task changes its state. */
export function createConfigs({
  pool,
  key,
  enqueue,
  dropCalls,
  refuseAddress
}: {
  pool: Pool
  key: Buffer
  enqueue: Enqueue
  dropCalls: DropCalls
  refuseAddress: RefuseAddress
}) {
  function toConfig(projectId: ProjectId, row: store.ConfigRow): PushConfig {
    const secrets = row.secrets && open(key, store.secretsContext(projectId, row.task_id, row.id), row.secrets)
    return { id: row.id, taskId: row.task_id, url: row.url, dialect: row.dialect, ...(secrets && JSON.parse(secrets)) }
  }

  async function write(tx: Db, projectId: ProjectId, task: Task, given: NewPushConfig, dialect: DialectName) {
    const known = await store.listConfigs(tx, projectId, task.id)
    const id = given.id ?? newId()
    const before = known.find((row) => row.id === id)
    const wanted = withSecrets(given, before && toConfig(projectId, before))
    if (known.length >= mostConfigs && !before) throw invalid('taskId', `the task has ${mostConfigs} webhooks already`)
    const { token, authentication } = wanted
    const secrets = { ...(token !== undefined && { token }), ...(authentication && { authentication }) }
    const sealed =
      Object.keys(secrets).length > 0
        ? seal(key, store.secretsContext(projectId, task.id, id), JSON.stringify(secrets))
        : null
    // The calls that wait were sealed for the old address. The new one gets the present state and later ones.
    const isMoved = before !== undefined && before.url !== wanted.url
    if (isMoved) await dropCalls(tx, projectId, orderOf(task.id, id))
    const created_at = before?.created_at ?? new Date()
    const row: store.ConfigRow = { id, task_id: task.id, url: wanted.url, secrets: sealed, dialect, created_at }
    await store.putConfig(tx, projectId, row)
    await markAttended(tx, projectId, task.id)
    return { config: toConfig(projectId, row), isMoved }
  }

  /** Enqueues the calls for the entries of the log from `from` on. Only states are reported, each with the task as it was then. */
  async function callAll(tx: Db, projectId: ProjectId, task: Task, from: number, configs: PushConfig[]) {
    for (const [index, entry] of task.log.entries()) {
      if (index < from || !('status' in entry)) continue
      for (const config of configs) await enqueue(tx, projectId, callOf(taskAt(task, index + 1), entry, config))
    }
  }

  const find = async (db: Db, projectId: ProjectId, taskId: string): Promise<PushConfig[]> =>
    (await store.listConfigs(db, projectId, taskId)).map((row) => toConfig(projectId, row))

  async function locked(tx: Db, projectId: ProjectId, taskId: string): Promise<Task> {
    const task = await lockTask(tx, projectId, taskId)
    if (!task) throw noTask()
    return task
  }

  return {
    /** Runs before the transaction, which would otherwise wait for DNS. */
    async check(projectId: ProjectId, wanted: NewPushConfig, field: string): Promise<void> {
      const reason = await refuseAddress(wanted.url, projectId)
      if (reason !== null) throw invalid(field, reason)
    },
    /** Writes the webhook of a message in the transaction of its task. */
    attach: async (tx: Db, projectId: ProjectId, task: Task, wanted: NewPushConfig): Promise<void> =>
      void (await write(tx, projectId, task, wanted, task.dialect)),
    /** Enqueues the calls for a change in the transaction of that change. */
    notify: async (tx: Db, projectId: ProjectId, task: Task, from: number) =>
      callAll(tx, projectId, task, from, await find(tx, projectId, task.id)),

    create: (projectId: ProjectId, taskId: string, wanted: NewPushConfig, spelling: (task: Task) => DialectName) =>
      pool.transaction(async (tx) => {
        const task = await locked(tx, projectId, taskId)
        const { config, isMoved } = await write(tx, projectId, task, wanted, spelling(task))
        // A webhook that is added to an ended task still receives its end.
        if (isMoved || isTerminal(task.status.state)) await callAll(tx, projectId, task, lastStateOf(task), [config])
        return shown(config, wanted)
      }),
    async list(projectId: ProjectId, taskId: string, { limit, pageToken }: ConfigListing) {
      const after = pageToken === undefined ? undefined : openToken(pageToken)
      // Reading one more than the page holds shows whether another page follows.
      const found = await store.listConfigPage(pool, projectId, taskId, limit + 1, after)
      const rows = found.slice(0, limit)
      const nextPageToken = found.length > limit ? sealToken(rows.at(-1)!) : ''
      return { configs: rows.map((row) => redacted(toConfig(projectId, row))), nextPageToken }
    },
    async get(projectId: ProjectId, taskId: string, id: string | undefined): Promise<PushConfig> {
      const all = await find(pool, projectId, taskId)
      const config = id === undefined ? all[0] : all.find((one) => one.id === id)
      if (!config) throw new AgentError('task_not_found', 'The task has no such push notification config.')
      return redacted(config)
    },
    remove: (projectId: ProjectId, taskId: string, id: string) =>
      pool.transaction(async (tx) => {
        await store.deleteConfig(tx, projectId, taskId, id)
        await dropCalls(tx, projectId, orderOf(taskId, id))
      })
  }
}

const lastStateOf = ({ log }: Task) => log.findLastIndex((entry) => 'status' in entry)

/** Each webhook of a task receives the states in order, and none waits for another. */
const orderOf = (taskId: string, configId: string) => `${taskId} ${configId}`

function callOf(task: Task, entry: LogEntry, config: PushConfig): OutgoingCall {
  const { url, token, authentication, dialect } = config
  const id = newId()
  const { contentType, body } = dialectOf(dialect).webhook(task, entry, id)
  const scheme = authentication && [authentication.scheme, authentication.credentials].filter(Boolean).join(' ')
  return {
    id,
    url,
    headers: {
      'content-type': contentType,
      ...(token !== undefined && { 'x-a2a-token': token, 'x-a2a-notification-token': token }),
      ...(scheme && { authorization: scheme })
    },
    body: JSON.stringify(body),
    order: orderOf(task.id, config.id),
    source: { kind: 'task', id: task.id }
  }
}

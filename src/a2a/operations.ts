import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Pool } from '../platform/db/db.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { ApiCaller } from '../projects/projects.ts'
import { defaultDialect, dialectOf, shownDialect, type Version } from './dialects/choose.ts'
import type { CardFacts, Dialect, Operation } from './dialects/dialect.ts'
import { fieldOf, optionalWhole } from './dialects/fields.ts'
import type { Call } from './envelope.ts'
import { AgentError, invalid, noTask } from './errors.ts'
import { isTerminal, type Message, type Task } from './model.ts'
import type { Configs } from './push-configs/push-configs.ts'
import type { Skill } from './skills/skill.ts'
import type { Canceling } from './tasks/canceling.ts'
import type { Engine } from './tasks/engine.ts'
import { dialectInToken, listPage } from './tasks/listing.ts'
import { markAttended } from './tasks/store.ts'
import type { Streams } from './tasks/streams.ts'
import type { Tasks } from './tasks/tasks.ts'
import type { Totals } from './tasks/totals.ts'
import { isHidden, onlyChainOf } from './tasks/visibility.ts'
import type { Waits } from './tasks/waits.ts'

export interface Asked {
  caller: ApiCaller
  /** The name of the asking agent, from the headers of the call. A message may give a better name. */
  agent: string | undefined
  version: Version
  call: Call
  /** The key of the header; empty if the header is absent. */
  idempotencyKey: string
  /** Throws if the skill may not run now. Called before anything is written for it. */
  admit: (skill: Skill) => undefined | Promise<undefined>
  /** Returns a check of the caller of a stream, which holds nothing of the request; undefined if none is needed. */
  stillValid: () => (() => Promise<boolean>) | undefined
  cardFacts: () => CardFacts
}

/** The response to a call: a result, or a stream of them. */
export type Reply = { result: unknown } | { stream: Readable }

interface Context extends Asked {
  projectId: ProjectId
  /** The spelling that the call shows, or its version's default. */
  dialect: Dialect
  /** The spelling for a task: the one that the call shows, else that of the task's last message. */
  spelling(task: Task): Dialect
}

/** The size (in characters) from which reading and comparing a message takes some 10 ms. */
const largeText = 256 * 1024

const whole = { historyLength: undefined, artifacts: true }

export function createOperations({
  pool,
  engine,
  canceling,
  tasks,
  configs,
  streams,
  waits,
  totals
}: {
  pool: Pool
  engine: Engine
  canceling: Canceling
  tasks: Tasks
  configs: Configs
  streams: Streams
  waits: Waits
  totals: Totals
}) {
  const known = async (caller: ApiCaller, id: string): Promise<Task> => {
    if (!isUuid(id)) throw noTask()
    const task = await tasks.find(caller.project.id, id.toLowerCase())
    if (isHidden(caller, task)) throw noTask()
    return task
  }

  async function take({ projectId, caller, agent, call, dialect, idempotencyKey, admit }: Context) {
    const sending = dialect.readSending(call.params)
    const { message, config } = sending
    if (message.taskId !== undefined) {
      if (!isUuid(message.taskId)) throw noTask()
      message.taskId = message.taskId.toLowerCase()
    }
    if (config) await configs.check(projectId, config, 'configuration.taskPushNotificationConfig.url')
    // Contract B.9: the key alone decides. If the messageId is the key, the text of the message is not compared.
    const { messageId: _, ...rest } = message
    const text = canonical(rest)
    // A large message takes its further steps in a later turn of the event loop.
    if (text.length > largeText) await new Promise(setImmediate)
    const fingerprint = hash('sha256', text, 'hex')
    const key = { scope: 'a2a' as const, key: idempotencyKey || message.messageId, fingerprint, bytes: text.length }
    return {
      sending,
      underway: await engine.take(projectId, sending, dialect, { caller, agent: agentOf(message) ?? agent, key, admit })
    }
  }

  const operations: Record<Operation, (context: Context) => Promise<Reply>> = {
    async send(context) {
      const { sending, underway } = await take(context)
      const { historyLength, immediately } = sending
      // A job may still run the task of a repeated message.
      const task = immediately ? underway.task : await waits.settled(context.projectId, await underway.settled)
      return { result: context.dialect.sent(task, { historyLength, artifacts: true }) }
    },
    async stream(context) {
      const { projectId, call, dialect, stillValid } = context
      const stream = await streams.open(projectId, async () => {
        const { sending, underway } = await take(context)
        const { historyLength } = sending
        const { task, from, settled } = underway
        const begin = Math.max(1, Math.min(from + 1, task.log.length))
        const client = { id: call.id, dialect, stillValid: stillValid() }
        return { ...client, task, from: begin, historyLength, waits: false, failed: settled }
      })
      return { stream }
    },
    async get({ caller, call, spelling, dialect }) {
      const task = await known(caller, dialect.readTaskId(call.params))
      const historyLength = optionalWhole(call.params, 'historyLength', 0)
      return { result: spelling(task).task(task, { historyLength, artifacts: true }) }
    },
    async list({ projectId, caller, call, dialect, version }) {
      const shown =
        version === '1.0' ? shownDialect(call.params, dialectInToken(fieldOf(call.params, 'pageToken'))) : dialect
      const wanted = dialect.readListing(call.params)
      return { result: await listPage({ pool, totals }, projectId, { ...wanted, chain: onlyChainOf(caller) }, shown) }
    },
    async cancel({ projectId, caller, call, spelling, dialect }) {
      const found = await known(caller, dialect.readTaskId(call.params))
      const task = await canceling.cancel(projectId, found, spelling)
      return { result: spelling(task).task(task, whole) }
    },
    async subscribe({ projectId, caller, call, spelling, dialect, stillValid }) {
      const found = await known(caller, dialect.readTaskId(call.params))
      const stream = await streams.open(projectId, async () => {
        // From here on every node announces its changes of the task. The task is read again, so that no change is
        // missed.
        const ended = isTerminal(found.status.state)
        if (!ended) await markAttended(pool, projectId, found.id)
        const task = ended ? found : await tasks.find(projectId, found.id)
        const spelt = spelling(task)
        if (isTerminal(task.status.state) && !spelt.rules.showsTheEnd)
          throw new AgentError(
            'unsupported_operation',
            `The task is ${task.status.state}: nothing more will happen to it.`
          )
        const client = { id: call.id, dialect: spelt, stillValid: stillValid() }
        return { ...client, task, from: task.log.length, waits: true }
      })
      return { stream }
    },
    async createConfig({ projectId, caller, call, spelling, dialect }) {
      const { taskId, config: wanted } = dialect.readConfig(call.params)
      const { id } = await known(caller, taskId)
      await configs.check(projectId, wanted, 'url')
      const config = await configs.create(projectId, id, wanted, (task) => spelling(task).name)
      return { result: dialect.config(config) }
    },
    async getConfig({ projectId, caller, call, dialect }) {
      const { taskId, id } = dialect.readConfigRef(call.params)
      const task = await known(caller, taskId)
      return { result: dialect.config(await configs.get(projectId, task.id, id)) }
    },
    async listConfigs({ projectId, caller, call, dialect }) {
      const wanted = dialect.readConfigListing(call.params)
      const task = await known(caller, wanted.taskId)
      return { result: dialect.configs(await configs.list(projectId, task.id, wanted)) }
    },
    async deleteConfig({ projectId, caller, call, dialect }) {
      const { taskId, id } = dialect.readConfigRef(call.params)
      if (id === undefined) throw invalid('pushNotificationConfigId', 'must be given')
      const task = await known(caller, taskId)
      await configs.remove(projectId, task.id, id)
      return { result: dialect.nothing }
    },
    async extendedCard({ cardFacts, dialect, caller: { project } }) {
      const facts = cardFacts()
      const description = `${facts.description} Acts for the project ${project.name} (${project.id}), which is in ${project.mode} mode.`
      return { result: dialect.extendedCard({ ...facts, description }) }
    }
  }

  return {
    /** The spelling that a call shows, for its errors too. */
    dialectOf: ({ params }: Pick<Call, 'params'>, version: Version): Dialect =>
      (version === '1.0' ? shownDialect(params, undefined) : undefined) ?? defaultDialect(version),

    answer(asked: Asked, dialect: Dialect): Promise<Reply> {
      const { call, version, caller } = asked
      const operation = dialect.operations.get(call.method)
      if (!operation) throw unknownMethod(call.method, version)
      const shown = version === '1.0' ? shownDialect(call.params, undefined) : dialect
      const spelling = (task: Task) => shown ?? dialectOf(task.dialect === 'legacy' ? dialect.name : task.dialect)
      return operations[operation]({ ...asked, projectId: caller.project.id, dialect, spelling })
    }
  }
}

const longestName = 100

/** The name of the agent in the metadata of a message. */
function agentOf({ metadata }: Message): string | undefined {
  const name = metadata?.agentName
  return typeof name === 'string' && name.trim() !== '' && name.length <= longestName ? name.trim() : undefined
}

function unknownMethod(method: string, version: Version): AgentError {
  const other: Version = version === '1.0' ? '0.3' : '1.0'
  const elsewhere = defaultDialect(other).operations.has(method)
  const name = method.slice(0, 100)
  return new AgentError(
    'method_not_found',
    elsewhere
      ? `${name} is a method of version ${other}: send the header A2A-Version: ${other}.`
      : `There is no method ${name}.`
  )
}

/**
 * A canonical text of the message, so that a message in another spelling or with its fields in another order counts as
 * the same. Each text stands behind its length, so that nothing in it needs an escape.
 */
export function canonical(value: unknown): string {
  if (typeof value === 'string') return `"${value.length}:${value}`
  if (typeof value !== 'object' || value === null) return String(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const inner of value) text += `${canonical(inner)},`
    return `[${text}]`
  }
  for (const name of Object.keys(value).sort())
    text += `"${name.length}:${name}:${canonical((value as Record<string, unknown>)[name])},`
  return `{${text}}`
}

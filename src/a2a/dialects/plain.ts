import { codeOf } from '../errors.ts'
import { isSettled, type LogEntry, type Message, type PushConfig, type Status, type Task } from '../model.ts'
import { currentCard } from './card.ts'
import type { Dialect, View } from './dialect.ts'
import { currentReading } from './reading.ts'

/** The contract's own dialect: the names of 1.0, with states and roles in lower case. */
export const plain: Dialect = {
  name: 'plain',
  rules: { cancelsTwice: false, showsTheEnd: true, counts: 'first page', listsArtifacts: true },
  ...currentReading,
  codeOf,
  task: plainTask,
  sent: (task, view) => ({ task: plainTask(task, view) }),
  page: ({ tasks, nextPageToken, pageSize, totalSize, view }) => ({
    tasks: tasks.map(({ task, dialect }) => dialect.task(task, view)),
    nextPageToken,
    pageSize,
    totalSize
  }),
  config: currentConfig,
  configs: ({ configs, nextPageToken }) => ({ configs: configs.map(currentConfig), nextPageToken }),
  nothing: {},
  begin: (task) => statusUpdate(task, task.status),
  // Contract, section 6: a stream shows exactly the first and the final state; clients fetch artifacts afterwards.
  update: (task, entry) =>
    'status' in entry && isSettled(entry.status.state) ? statusUpdate(task, entry.status) : undefined,
  // Contract, section 6: a webhook call is a JSON-RPC request. Without an id it would be a notification.
  webhook: (task, entry, id) => ({
    contentType: 'application/json',
    body: {
      jsonrpc: '2.0',
      id,
      method: 'tasks/pushNotification',
      params: { result: statusUpdate(task, statusOf(task, entry), true) }
    }
  }),
  card: currentCard,
  extendedCard: currentCard
}

const statusOf = (task: Task, entry: LogEntry): Status => ('status' in entry ? entry.status : task.status)

function plainTask({ id, contextId, status, artifacts, history }: Task, view: View) {
  return {
    id,
    contextId,
    status: plainStatus(status),
    artifacts: view.artifacts ? artifacts : undefined,
    history: historyOf(history, view, (message) => message)
  }
}

const plainStatus = ({ state, at, message }: Status) => ({ state, timestamp: at, message })

/** A stream's `submitted` carries no time, as the contract shows it; all others do. */
function statusUpdate({ id, contextId }: Task, status: Status, timed = status.state !== 'submitted') {
  const { timestamp, ...rest } = plainStatus(status)
  return { statusUpdate: { taskId: id, contextId, status: timed ? { ...rest, timestamp } : rest } }
}

/** The latest messages. Undefined, which JSON omits, if the view has none. */
export function historyOf<Spelt>(
  history: Message[],
  { historyLength }: View,
  spell: (message: Message) => Spelt
): Spelt[] | undefined {
  if (historyLength === 0) return undefined
  return (historyLength === undefined ? history : history.slice(-historyLength)).map(spell)
}

export function currentConfig({ id, taskId, url, token, authentication }: PushConfig) {
  return { id, taskId, url, ...(token !== undefined && { token }), ...(authentication && { authentication }) }
}

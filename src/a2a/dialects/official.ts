import { codeOf } from '../errors.ts'
import type { Artifact, LogEntry, Message, Status, Task } from '../model.ts'
import { currentCard } from './card.ts'
import type { Dialect, View } from './dialect.ts'
import { toOfficialState } from './fields.ts'
import { currentConfig, historyOf } from './plain.ts'
import { currentReading } from './reading.ts'

/**
 * A2A 1.0 as the official libraries speak it. Some of them refuse fields that the protocol does not have, so this
 * dialect adds none.
 */
export const official: Dialect = {
  name: 'official',
  rules: { cancelsTwice: true, showsTheEnd: false, counts: 'every page', listsArtifacts: false },
  ...currentReading,
  codeOf: (fault) => codeOf(fault === 'skill_not_found' ? 'invalid_params' : fault),
  task: officialTask,
  sent: (task, view) => ({ task: officialTask(task, view) }),
  page: ({ tasks, nextPageToken, pageSize, totalSize, view }) => ({
    tasks: tasks.map(({ task, dialect }) => dialect.task(task, view)),
    nextPageToken,
    pageSize,
    totalSize
  }),
  config: currentConfig,
  configs: ({ configs, nextPageToken }) => ({
    configs: configs.map(currentConfig),
    ...(nextPageToken !== '' && { nextPageToken })
  }),
  nothing: {},
  begin: (task, view) => ({ task: officialTask(task, view) }),
  update: event,
  webhook: (task, entry) => ({ contentType: 'application/a2a+json', body: event(task, entry) }),
  card: currentCard,
  extendedCard: currentCard
}

function officialTask({ id, contextId, status, artifacts, history }: Task, view: View) {
  return {
    id,
    contextId,
    status: officialStatus(status),
    artifacts: view.artifacts && artifacts.length > 0 ? artifacts : undefined,
    history: historyOf(history, view, officialMessage)
  }
}

const officialMessage = (message: Message) => ({
  ...message,
  role: message.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'
})

const officialStatus = ({ state, at, message }: Status) => ({
  state: toOfficialState.get(state),
  message: message && officialMessage(message),
  timestamp: at
})

function event({ id: taskId, contextId, artifacts }: Task, entry: LogEntry) {
  if ('status' in entry) return { statusUpdate: { taskId, contextId, status: officialStatus(entry.status) } }
  const artifact = artifacts[entry.artifact] as Artifact
  return { artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true } }
}

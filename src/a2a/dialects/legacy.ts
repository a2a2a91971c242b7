import { roughBytes } from '../../platform/coalesce.ts'
import { isObject } from '../../platform/fields.ts'
import { codeOf, invalid } from '../errors.ts'
import type { Artifact, LogEntry, Message, Part, PushConfig, Status, Task } from '../model.ts'
import { hybridCard, legacyCard } from './card.ts'
import type { Dialect, Operation, View } from './dialect.ts'
import { optionalObject, optionalState, optionalText, optionalWhole, text } from './fields.ts'
import { historyOf } from './plain.ts'
import { optionalTime, readPushConfig, readSending, readTaskId } from './reading.ts'

const operations: ReadonlyMap<string, Operation> = new Map([
  ['message/send', 'send'],
  ['message/stream', 'stream'],
  ['tasks/get', 'get'],
  ['tasks/list', 'list'],
  ['tasks/cancel', 'cancel'],
  ['tasks/resubscribe', 'subscribe'],
  ['tasks/pushNotificationConfig/set', 'createConfig'],
  ['tasks/pushNotificationConfig/get', 'getConfig'],
  ['tasks/pushNotificationConfig/list', 'listConfigs'],
  ['tasks/pushNotificationConfig/delete', 'deleteConfig'],
  ['agent/getAuthenticatedExtendedCard', 'extendedCard']
])

/** A2A 0.3: `kind` on everything, results without a wrapper. */
export const legacy: Dialect = {
  name: 'legacy',
  rules: { cancelsTwice: false, showsTheEnd: true, counts: 'never', listsArtifacts: true },
  operations,
  readSending,
  readTaskId,
  readListing: (params) => ({
    contextId: optionalText(params, 'contextId', 'contextId', 128),
    state: optionalState(params, 'status'),
    changedAfter: optionalTime(params, 'statusTimestampAfter'),
    limit: optionalWhole(params, 'limit', 1, 100) ?? 50,
    offset: optionalWhole(params, 'offset', 0, 1_000_000) ?? 0,
    pageToken: undefined,
    historyLength: optionalWhole(params, 'historyLength', 0) ?? 0,
    artifacts: undefined
  }),
  readConfig(params) {
    const config = optionalObject(params, 'pushNotificationConfig')
    if (!config) throw invalid('pushNotificationConfig', 'must be given')
    return { taskId: text(params, 'taskId'), config: readPushConfig(config, 'pushNotificationConfig') }
  },
  readConfigRef: (params) => ({
    taskId: text(params, 'id'),
    id: optionalText(params, 'pushNotificationConfigId')
  }),
  // In 0.3 this list has no pages.
  readConfigListing: (params) => ({ taskId: text(params, 'id'), limit: 100, pageToken: undefined }),
  codeOf: (fault) => codeOf(fault === 'skill_not_found' ? 'invalid_params' : fault),
  task: legacyTask,
  sent: legacyTask,
  page: ({ tasks, view }) => tasks.map(({ task }) => legacyTask(task, view)),
  config: legacyConfig,
  configs: ({ configs }) => configs.map(legacyConfig),
  nothing: null,
  begin: legacyTask,
  update: event,
  webhook: (task) => ({
    contentType: 'application/json',
    body: legacyTask(task, { historyLength: latestOf(task.history), artifacts: true })
  }),
  card: hybridCard,
  extendedCard: legacyCard
}

/** Each change of each webhook stores a body of its own, while the messages of a task may have several MiB. */
const mostHistoryBytes = 64 * 1024

/** The number of latest messages that a call of a webhook carries. GetTask has all of them. */
function latestOf(history: Message[]): number {
  let bytes = 0
  let first = history.length
  while (first > 0 && bytes <= mostHistoryBytes) {
    first -= 1
    bytes += roughBytes(history[first])
  }
  return history.length - first - (bytes > mostHistoryBytes ? 1 : 0)
}

function legacyTask({ id, contextId, status, artifacts, history }: Task, view: View) {
  return {
    kind: 'task',
    id,
    contextId,
    status: legacyStatus(status),
    artifacts: view.artifacts ? artifacts.map(legacyArtifact) : undefined,
    history: historyOf(history, view, legacyMessage)
  }
}

const legacyStatus = ({ state, at, message }: Status) => ({
  state,
  message: message && legacyMessage(message),
  timestamp: at
})

const legacyMessage = (message: Message) => ({ kind: 'message', ...message, parts: message.parts.map(legacyPart) })
const legacyArtifact = (artifact: Artifact) => ({ ...artifact, parts: artifact.parts.map(legacyPart) })

function legacyPart(part: Part) {
  const metadata = part.metadata && { metadata: part.metadata }
  if ('text' in part) return { kind: 'text', text: part.text, ...metadata }
  // In 0.3 the data of a part is always an object.
  if ('data' in part) return { kind: 'data', data: isObject(part.data) ? part.data : { value: part.data }, ...metadata }
  const named = {
    ...(part.filename !== undefined && { name: part.filename }),
    ...(part.mediaType !== undefined && { mimeType: part.mediaType })
  }
  const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url }
  return { kind: 'file', file: { ...content, ...named }, ...metadata }
}

function event({ id: taskId, contextId, artifacts }: Task, entry: LogEntry, final: boolean) {
  if ('status' in entry) {
    const { status } = entry
    return { kind: 'status-update', taskId, contextId, status: legacyStatus(status), final }
  }
  const artifact = legacyArtifact(artifacts[entry.artifact] as Artifact)
  return { kind: 'artifact-update', taskId, contextId, artifact, append: false, lastChunk: true }
}

function legacyConfig({ id, taskId, url, token, authentication }: PushConfig) {
  return {
    taskId,
    pushNotificationConfig: {
      id,
      url,
      ...(token !== undefined && { token }),
      ...(authentication && {
        authentication: {
          schemes: [authentication.scheme],
          ...(authentication.credentials !== undefined && { credentials: authentication.credentials })
        }
      })
    }
  }
}

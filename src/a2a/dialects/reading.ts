import { isObject } from '../../platform/fields.ts'
import { readTime, timeRule } from '../../platform/time.ts'
import { invalid } from '../errors.ts'
import type { Dialect, Listing, NewPushConfig, Operation, Sending } from './dialect.ts'
import {
  type Fields,
  fieldOf,
  optionalFlag,
  optionalObject,
  optionalState,
  optionalText,
  optionalWhole,
  readMessage,
  text
} from './fields.ts'

/** Version 1.0, in either spelling. */
export const currentOperations: ReadonlyMap<string, Operation> = new Map([
  ['SendMessage', 'send'],
  ['SendStreamingMessage', 'stream'],
  ['GetTask', 'get'],
  ['ListTasks', 'list'],
  ['CancelTask', 'cancel'],
  ['SubscribeToTask', 'subscribe'],
  ['CreateTaskPushNotificationConfig', 'createConfig'],
  ['GetTaskPushNotificationConfig', 'getConfig'],
  ['ListTaskPushNotificationConfigs', 'listConfigs'],
  ['DeleteTaskPushNotificationConfig', 'deleteConfig'],
  ['GetExtendedAgentCard', 'extendedCard']
])

const maxUrl = 2_048
const maxSecret = 4_096

/** One scheme, or a list of them of which the first counts. */
export function readPushConfig(fields: Fields, path: string): NewPushConfig {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const given = optionalObject(fields, 'authentication', at('authentication'))
  const schemes = given && Array.isArray(given.schemes) ? { ...given, scheme: given.schemes[0] } : given
  const scheme = schemes && optionalText(schemes, 'scheme', at('authentication.scheme'))
  const credentials = schemes && optionalText(schemes, 'credentials', at('authentication.credentials'), maxSecret)
  if (scheme === undefined && credentials !== undefined)
    throw invalid(at('authentication.scheme'), 'must be given with credentials')
  return {
    id: optionalText(fields, 'id', at('id')),
    url: text(fields, 'url', at('url'), maxUrl),
    token: headerText(optionalText(fields, 'token', at('token'), maxSecret), at('token')),
    authentication:
      scheme === undefined
        ? undefined
        : {
            scheme: headerText(scheme, at('authentication.scheme')),
            ...(credentials !== undefined && { credentials: headerText(credentials, at('authentication.credentials')) })
          }
  }
}

/** Checks a text that will travel in a header. */
function headerText<Given extends string | undefined>(value: Given, path: string): Given {
  if (value !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw invalid(path, 'must be visible ASCII characters')
  return value
}

export function readSending(params: Fields): Sending {
  const message = readMessage(params)
  const configuration = optionalObject(params, 'configuration') ?? {}
  const config =
    fieldOf(configuration, 'taskPushNotificationConfig') ?? fieldOf(configuration, 'pushNotificationConfig')
  const blocking = optionalFlag(configuration, 'blocking', 'configuration.blocking')
  if (config !== undefined && config !== null && !isObject(config))
    throw invalid('configuration.taskPushNotificationConfig', 'must be an object')
  return {
    message,
    immediately:
      optionalFlag(configuration, 'returnImmediately', 'configuration.returnImmediately') ?? blocking === false,
    historyLength: optionalWhole(configuration, 'historyLength', 0),
    config: isObject(config) ? readPushConfig(config, 'configuration.taskPushNotificationConfig') : undefined
  }
}

export const readTaskId = (params: Fields): string => text(params, 'id')

export function optionalTime(params: Fields, name: string): Date | undefined {
  const given = optionalText(params, name)
  if (given === undefined) return undefined
  const time = readTime(given)
  if (!time) throw invalid(name, timeRule)
  return time
}

/** The readers that both spellings of 1.0 share. */
export const currentReading = {
  operations: currentOperations,
  readSending,
  readTaskId,
  readListing: (params): Listing => ({
    contextId: optionalText(params, 'contextId', 'contextId', 128),
    state: optionalState(params, 'status'),
    changedAfter: optionalTime(params, 'statusTimestampAfter'),
    limit: optionalWhole(params, 'pageSize', 1, 100) ?? 50,
    offset: 0,
    pageToken: optionalText(params, 'pageToken', 'pageToken', 500),
    historyLength: optionalWhole(params, 'historyLength', 0) ?? 0,
    artifacts: optionalFlag(params, 'includeArtifacts')
  }),
  readConfig: (params) => ({ taskId: text(params, 'taskId'), config: readPushConfig(params, '') }),
  readConfigRef: (params) => ({ taskId: text(params, 'taskId'), id: text(params, 'id') }),
  readConfigListing: (params) => ({
    taskId: text(params, 'taskId'),
    limit: optionalWhole(params, 'pageSize', 1, 100) ?? 50,
    // The token holds the id of a webhook, which its caller chooses.
    pageToken: optionalText(params, 'pageToken', 'pageToken', 2_500)
  })
} satisfies Partial<Dialect>

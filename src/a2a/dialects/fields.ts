import { isObject, longerThan } from '../../platform/fields.ts'
import { invalid } from '../errors.ts'
import type { Message, Part, PartExtras, TaskState } from '../model.ts'
import { taskStates } from '../model.ts'

// All dialects read alike: every spelling is accepted everywhere, and only responses are bound to one.

export type Fields = Record<string, unknown>

/** Many clients send null for a field that they do not set. */
const absent = (value: unknown): value is null | undefined => value === undefined || value === null

const underscored = new Map<string, string>()

/** A field by its JSON name, or by its name in the protocol's definition: clients may send `task_id` for `taskId`. */
export function fieldOf(fields: Fields, name: string): unknown {
  const value = fields[name]
  if (value !== undefined) return value
  let other = underscored.get(name)
  if (other === undefined) {
    other = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    underscored.set(name, other)
  }
  return fields[other]
}

export function text(fields: Fields, name: string, path = name, max = 255): string {
  const value = optionalText(fields, name, path, max)
  if (value === undefined) throw invalid(path, 'must be given')
  return value
}

export function optionalText(fields: Fields, name: string, path = name, max = 255): string | undefined {
  const value = fieldOf(fields, name)
  if (absent(value) || value === '') return undefined
  if (typeof value !== 'string') throw invalid(path, 'must be a string')
  if (longerThan(value, max)) throw invalid(path, `must be at most ${max} characters`)
  return value
}

export function optionalObject(fields: Fields, name: string, path = name): Fields | undefined {
  const value = fieldOf(fields, name)
  if (absent(value)) return undefined
  if (!isObject(value)) throw invalid(path, 'must be an object')
  return value
}

export function optionalWhole(
  fields: Fields,
  name: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER
): number | undefined {
  const value = fieldOf(fields, name)
  if (absent(value)) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    throw invalid(name, `must be a whole number ${range}`)
  }
  return value
}

export function optionalFlag(fields: Fields, name: string, path = name): boolean | undefined {
  const value = fieldOf(fields, name)
  if (absent(value)) return undefined
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false')
  return value
}

function texts(fields: Fields, name: string, path: string): string[] | undefined {
  const value = fieldOf(fields, name)
  if (absent(value)) return undefined
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string'))
    throw invalid(path, 'must be a list of strings')
  return value as string[]
}

/** States by their numbers in the protocol's definition, which are valid input. */
const numbered = new Map<unknown, TaskState>(
  (
    [
      [1, 'submitted'],
      [2, 'working'],
      [3, 'completed'],
      [4, 'failed'],
      [5, 'canceled'],
      [6, 'input-required'],
      [7, 'rejected'],
      [8, 'auth-required']
    ] as const
  ).map(([number, state]) => [number, state])
)
const officialState = (state: TaskState) => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`
const spelt = new Map<unknown, TaskState>([
  ...taskStates.map((state) => [state, state] as const),
  ...taskStates.map((state) => [officialState(state), state] as const),
  ...numbered
])
export const toOfficialState = new Map(taskStates.map((state) => [state, officialState(state)]))

/** A state in any spelling. The protocol's zero value counts as absent. */
export function optionalState(fields: Fields, name: string): TaskState | undefined {
  const value = fieldOf(fields, name)
  if (absent(value) || value === 0 || value === '' || value === 'TASK_STATE_UNSPECIFIED') return undefined
  const state = spelt.get(value)
  if (!state) throw invalid(name, `must be one of ${taskStates.join(', ')}`)
  return state
}

const roles = new Map<unknown, Message['role']>([
  ['user', 'user'],
  ['agent', 'agent'],
  ['ROLE_USER', 'user'],
  ['ROLE_AGENT', 'agent'],
  [1, 'user'],
  [2, 'agent']
])

/** A message is a request and not a store for data, so its size is limited. */
const maxParts = 100

export function readMessage(params: Fields): Message {
  const sent = params.message
  if (!isObject(sent)) throw invalid('message', sent === undefined ? 'must be given' : 'must be an object')
  const role = absent(sent.role) || sent.role === '' || sent.role === 0 ? 'user' : roles.get(sent.role)
  if (role !== 'user') throw invalid('message.role', 'must be user')
  const { parts } = sent
  if (!Array.isArray(parts) || parts.length === 0)
    throw invalid('message.parts', 'must be a list with at least one part')
  if (parts.length > maxParts) throw invalid('message.parts', `must have at most ${maxParts} parts`)
  const contextId = optionalText(sent, 'contextId', 'message.contextId', 128)
  const taskId = optionalText(sent, 'taskId', 'message.taskId')
  const metadata = optionalObject(sent, 'metadata', 'message.metadata')
  const extensions = texts(sent, 'extensions', 'message.extensions')
  const referenceTaskIds = texts(sent, 'referenceTaskIds', 'message.referenceTaskIds')
  const messageId = text(sent, 'messageId', 'message.messageId')
  // Fields are copied one by one: spreading optional objects took longer than reading the rest of the message.
  const message: Message = { messageId, role, parts: parts.map(readPart) }
  if (contextId !== undefined) message.contextId = contextId
  if (taskId !== undefined) message.taskId = taskId
  if (metadata) message.metadata = metadata
  if (extensions) message.extensions = extensions
  if (referenceTaskIds) message.referenceTaskIds = referenceTaskIds
  return message
}

const contents = ['text', 'data', 'raw', 'url'] as const

function readPart(part: unknown, index: number): Part {
  const path = `message.parts[${index}]`
  if (!isObject(part)) throw invalid(path, 'must be an object')
  const extras = readExtras(part, path)
  const kind = typeof part.kind === 'string' ? part.kind : undefined
  if (kind === 'file' || isObject(part.file)) return { ...extras, ...readFile(part.file, path) }
  let only: (typeof contents)[number] | undefined
  let given = 0
  for (const name of contents) {
    if (part[name] === undefined || (part[name] === null && name !== 'data')) continue
    only = name
    given += 1
  }
  if (given !== 1 || !only) throw invalid(path, 'must have exactly one of text, data, raw and url')
  if (kind !== undefined && kind !== only) throw invalid(`${path}.kind`, `does not fit the part, which has ${only}`)
  const value = part[only]
  if (only === 'data') return { ...extras, data: value }
  if (typeof value !== 'string') throw invalid(`${path}.${only}`, 'must be a string')
  return only === 'text'
    ? { ...extras, text: value }
    : only === 'raw'
      ? { ...extras, raw: value }
      : { ...extras, url: value }
}

function readExtras(part: Fields, path: string): PartExtras {
  const extras: PartExtras = {}
  const filename = optionalText(part, 'filename', `${path}.filename`)
  const mediaType = optionalText(part, 'mediaType', `${path}.mediaType`)
  const metadata = optionalObject(part, 'metadata', `${path}.metadata`)
  if (filename !== undefined) extras.filename = filename
  if (mediaType !== undefined) extras.mediaType = mediaType
  if (metadata) extras.metadata = metadata
  return extras
}

/** Version 0.3 wraps a file in an object. This code only recognizes it, because no skill takes files. */
function readFile(file: unknown, path: string): Part {
  if (!isObject(file)) throw invalid(`${path}.file`, 'must be an object')
  if (typeof file.uri === 'string') return { url: file.uri }
  if (typeof file.bytes === 'string') return { raw: file.bytes }
  throw invalid(`${path}.file`, 'must have bytes or uri')
}

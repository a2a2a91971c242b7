import type { Refusal } from '../platform/errors.ts'
import { checkChosenId, type FieldReader, isAbsent, isObject } from '../platform/fields.ts'

/** The recipient of an item: exactly one of three. */
export type Target = { projectUserId: string } | { deviceId: string } | { userId: string }

export const maxItems = 1_000
/** The longest time for which any gateway keeps a message. */
const maxTtlSeconds = 28 * 86_400
/** Bounds of the attributes and the state of a Live Activity. */
export const activityBounds = { levels: 16, bytes: 16 * 1024 }

/** The fields that items of every channel have. */
export interface CommonItem {
  priority: 'high' | 'normal'
  /** Absent: the default of the channel. */
  ttlSeconds: number | undefined
}

export const readCommon = (reader: FieldReader): CommonItem => ({
  priority: readPriority(reader),
  ttlSeconds: reader.whole('ttl_seconds', maxTtlSeconds)
})

function readPriority(reader: FieldReader): 'high' | 'normal' {
  const value = reader.text('priority') ?? 'high'
  if (value !== 'high' && value !== 'normal') throw reader.refuse('priority', 'must be high or normal')
  return value
}

export const checkTargetId = (id: unknown, isProjectUserId: boolean, refuse: (message: string) => Refusal): string =>
  checkChosenId(id, isProjectUserId ? 512 : 255, refuse)

export function readTarget(reader: FieldReader): Target {
  const value = reader.object('target')
  const named = ['project_user_id', 'device_id', 'user_id'].filter((name) => !isAbsent(value[name]))
  const [field] = named
  if (named.length !== 1 || !field)
    throw reader.refuse('target', 'must have exactly one of project_user_id, device_id and user_id')
  const id = checkTargetId(value[field], field === 'project_user_id', (message) =>
    reader.refuse(`target.${field}`, message)
  )
  if (field === 'project_user_id') return { projectUserId: id }
  return field === 'device_id' ? { deviceId: id } : { userId: id }
}

export function readAlert(reader: FieldReader): { title: string; body: string } | undefined {
  const value = reader.value('alert')
  if (isAbsent(value)) return undefined
  if (!isObject(value)) throw reader.refuse('alert', 'must be an object')
  const { title, body } = value
  if (typeof title !== 'string' || title === '')
    throw reader.refuse('alert.title', 'must be a string that is not empty')
  if (typeof body !== 'string' || body === '') throw reader.refuse('alert.body', 'must be a string that is not empty')
  return { title, body }
}

type Defined<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/** Drops absent fields, so that none is stored or sent. A loop, because it runs for each of 500 items of a request. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const kept: Partial<Fields> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as unknown as Defined<Fields>
}

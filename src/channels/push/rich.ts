import type { Action, InterruptionLevel, Notification } from '../../gateways/gateways.ts'
import { checkAddress, type FieldReader, isAbsent, isObject, longerThan } from '../../platform/fields.ts'
import { defined } from '../fields.ts'

export const interruptionLevels: InterruptionLevel[] = ['passive', 'active', 'time-sensitive', 'critical']
/** iOS shows at most four. */
const mostActions = 4

type Rich = Pick<Notification, 'category' | 'actions' | 'interruptionLevel' | 'relevanceScore' | 'silent'>

/** Fields that not every gateway can show: docs/reference/payloads.md has a table. */
export const readRich = (reader: FieldReader): Rich =>
  defined({
    category: reader.text('category', 255),
    actions: readActions(reader),
    interruptionLevel: readLevel(reader),
    relevanceScore: readScore(reader),
    silent: readSilent(reader)
  })

function readLevel(reader: FieldReader): InterruptionLevel | undefined {
  const value = reader.text('interruption_level')
  const level = interruptionLevels.find((one) => one === value)
  if (value !== undefined && !level)
    throw reader.refuse('interruption_level', `must be one of ${interruptionLevels.join(', ')}`)
  return level
}

function readScore(reader: FieldReader): number | undefined {
  const value = reader.value('relevance_score')
  if (isAbsent(value)) return undefined
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw reader.refuse('relevance_score', 'must be a number from 0 to 1')
  return value
}

function readSilent(reader: FieldReader): true | undefined {
  const value = reader.value('silent')
  if (!isAbsent(value) && typeof value !== 'boolean') throw reader.refuse('silent', 'must be true or false')
  return value === true || undefined
}

function readActions(reader: FieldReader): Action[] | undefined {
  const value = reader.value('actions')
  if (isAbsent(value)) return undefined
  if (!Array.isArray(value) || value.length === 0 || value.length > mostActions)
    throw reader.refuse('actions', `must be a list of 1 to ${mostActions} buttons`)
  const actions = value.map((one: unknown, index) => readAction(reader, one, `actions[${index}]`))
  if (new Set(actions.map(({ id }) => id)).size < actions.length)
    throw reader.refuse('actions', 'must not have the same id twice')
  return actions
}

function readAction(reader: FieldReader, value: unknown, path: string): Action {
  if (!isObject(value)) throw reader.refuse(path, 'must be an object')
  const { landing_url: url } = value
  const text = (name: 'id' | 'title', most: number) => {
    const given = value[name]
    if (typeof given !== 'string' || given === '' || longerThan(given, most))
      throw reader.refuse(`${path}.${name}`, `must be a string of 1 to ${most} characters`)
    return given
  }
  if (!isAbsent(url) && typeof url !== 'string') throw reader.refuse(`${path}.landing_url`, 'must be a string')
  return defined({
    id: text('id', 64),
    title: text('title', 255),
    landingUrl: url ? checkAddress(url, [], (message) => reader.refuse(`${path}.landing_url`, message)) : undefined
  })
}

const shown = ['title', 'body', 'image_url', 'landing_url', 'sound', 'badge', 'channel_id', 'thread_id'] as const
const shownToo = ['category', 'actions', 'interruption_level', 'relevance_score'] as const

/** Gateways take a push either as a notification or as a wake-up of the app, not as both. */
export function refuseSilent(reader: FieldReader, { silent }: Notification): void {
  if (!silent) return
  const field = [...shown, ...shownToo].find((name) => reader.has(name))
  if (field) throw reader.refuse(field, 'must not be given: a silent push shows nothing')
}

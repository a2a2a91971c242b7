import { type Static, Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import { checkProperties, type Properties, type PropertyValue } from '../users/users.ts'

const Value = Type.Unsafe<PropertyValue>({ type: ['string', 'number', 'boolean', 'null'] })

/**
 * SDKs differ: they send `value` or `value_string`, and text for every type or JSON of the type. All forms are
 * accepted.
 */
export const SentProperty = Type.Object({
  name: Type.String({ description: 'The name of the property.', minLength: 1 }),
  type: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'USER_PROPERTY_TYPE_STRING, _NUMBER, _BOOLEAN or _DATETIME, with or without the beginning. Absent: as the value is.'
    })
  ),
  value: Type.Optional({ ...Value, description: 'As JSON of its type, or as text.' }),
  value_string: Type.Optional({ ...Value, description: 'Another name for value.' })
})
type Sent = Static<typeof SentProperty>

export function readProperties(list: Sent[]): Properties {
  const properties: Properties = Object.create(null)
  for (const [index, entry] of list.entries()) properties[entry.name] = read(entry, `properties[${index}]`)
  return checkProperties(properties)
}

function read(entry: Sent, path: string): PropertyValue {
  const value = entry.value !== undefined ? entry.value : entry.value_string
  if (value === undefined) throw refuse(`${path}.value`, 'must be given')
  if (value === null) return null
  const type = (entry.type ?? '').toUpperCase().replace(/^USER_PROPERTY_TYPE_/, '')
  switch (type) {
    case '':
      return value
    case 'STRING':
    case 'DATETIME':
      return String(value)
    case 'NUMBER': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      if (typeof number !== 'number' || !Number.isFinite(number)) throw refuse(`${path}.value`, 'must be a number')
      return number
    }
    case 'BOOLEAN': {
      const text = String(value).toLowerCase()
      if (text !== 'true' && text !== 'false') throw refuse(`${path}.value`, 'must be true or false')
      return text === 'true'
    }
    default:
      throw refuse(`${path}.type`, 'must be USER_PROPERTY_TYPE_STRING, _NUMBER, _BOOLEAN or _DATETIME')
  }
}

const refuse = refusing('invalid_properties')

const Names = Type.Unsafe<string | string[]>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 1_000 }]
})

export const NamesQuery = Type.Object({
  names: Type.Optional({ ...Names, description: 'A name; repeat it for more, or give a list as JSON text.' }),
  property_names: Type.Optional({ ...Names, description: 'Names with commas between them.' })
})

/** SDKs differ: one repeats `names`, another sends one list, `["a", "b"]`, a third joins `property_names` by commas. */
export function readNames({ names = [], property_names = [] }: Static<typeof NamesQuery>): string[] {
  const listed = [...[names].flat().flatMap(listIn), ...[property_names].flat().flatMap((text) => text.split(','))]
  const found = listed.filter((name) => name !== '')
  if (found.length === 0)
    throw refusing('invalid_parameter')('names', 'must be given, as names=a&names=b or property_names=a,b')
  if (!found.every(isStorable)) throw new Refusal('malformed_request', 'names: holds NUL or a broken escape')
  return found
}

/** A text that is no list of names is a name. */
function listIn(text: string): string[] {
  if (!/^\[.*\]$/s.test(text)) return [text]
  try {
    const list: unknown[] = JSON.parse(text)
    return list.every((name) => typeof name === 'string') ? list : [text]
  } catch {
    return [text]
  }
}

import type { AttributeCondition, Properties } from '../../../../../wire.ts'
import type { Property } from './catalog.ts'
import { takesList, takesNoValue, typeOf } from './segment.ts'

/** The number of letters to change, add or remove until one text is the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)))
    row = next
  }
  return row[other.length]!
}

/** The known name that is most like a misspelt one; undefined if none is. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase()
  const near = known
    .map((one) => ({ one, far: distance(wanted.slice(0, 64), one.toLowerCase().slice(0, 64)) }))
    .filter(({ far }) => far <= Math.max(1, Math.floor(wanted.length / 2.5)))
  return near.sort((a, b) => a.far - b.far)[0]?.one
}

/** A warning beside a condition, with the change that it suggests. */
export interface Finding {
  text: string
  /** The label of the button that makes the change. */
  label?: string
  change?: Partial<AttributeCondition>
}

/** `No user has “paln”.`, or how many were looked at. */
export const noneHas = (of: string, { sampled, complete }: Pick<Properties, 'sampled' | 'complete'>, name: string) =>
  complete ? `No ${of} has “${name}”.` : `None of ${sampled.toLocaleString()} sampled ${of}s has “${name}”.`

/** Warns about a name that none has. Says nothing before anything is known. */
export function unknownName(prefix: 'user.' | 'event.', name: string, properties: Properties): Finding | undefined {
  const { items, sampled } = properties
  if (name === '' || sampled === 0 || items.some((one) => one.name === name)) return undefined
  const meant = nearest(
    name,
    items.map((one) => one.name)
  )
  const text = noneHas(prefix === 'user.' ? 'user' : 'event', properties, name)
  return meant === undefined
    ? { text }
    : { text: `${text} Did you mean`, label: meant, change: { attribute: `${prefix}${meant}` } }
}

const words: Record<string, string> = { string: 'text', number: 'a number', boolean: 'true or false', null: 'null' }
const searching = ['contains', 'not_contains', 'starts_with', 'ends_with', 'matches']

/** Warns about a value whose type the property never has. */
export function wrongType(condition: AttributeCondition, { name, types }: Property): Finding | undefined {
  const { operator, value } = condition
  const own = types.filter((type) => type !== 'null')
  if (own.length === 0 || takesNoValue(operator) || operator === 'within_last') return undefined
  const is = `${name} is ${own.map((type) => words[type] ?? type).join(' or ')}`
  if (searching.includes(operator))
    return own.includes('string') ? undefined : { text: `${is}; this operator searches text only.` }
  const values = takesList(operator) && Array.isArray(value) ? value : [value]
  const odd = values.find((one) => isPlain(one) && !own.includes(typeof one as (typeof own)[number]))
  if (odd === undefined) return undefined
  const text = `${is}; you compare it with ${typeof odd === 'string' ? `the text “${odd}”` : `${words[typeof odd]}, ${odd}`}.`
  const fitting = fitted(value, types)
  return JSON.stringify(fitting) === JSON.stringify(value)
    ? { text }
    : {
        text,
        label: `Use ${Array.isArray(fitting) ? 'numbers' : `the ${typeof fitting} ${String(fitting)}`}`,
        change: { value: fitting }
      }
}

const isPlain = (value: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof value) && value !== '' && typeOf(value) !== 'trigger property'

/** The value in the only type that the property has, if it can be written so. */
export function fitted(value: unknown, types: Property['types']): unknown {
  const [type, ...more] = types.filter((one) => one !== 'null')
  if (more.length > 0) return value
  if (Array.isArray(value)) return value.map((one) => fitted(one, types))
  if (typeof value === 'string' && type === 'number')
    return value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value
  if (typeof value === 'string' && type === 'boolean')
    return value === 'true' ? true : value === 'false' ? false : value
  return typeof value === 'number' && type === 'string' ? String(value) : value
}

import type { UserProperties } from '../../../../wire.ts'

export type Value = UserProperties[string]
export type Kind = 'text' | 'number' | 'boolean' | 'time' | 'null'

/** The types of values, as a person chooses them. */
export const kinds: { value: Kind; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
  { value: 'time', label: 'Date and time' },
  { value: 'null', label: 'Empty (null)' }
]

export const labelOf = (kind: Kind) => kinds.find(({ value }) => value === kind)!.label

/** An instant as the API writes it. Any other text stays a text. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

export function kindOf(value: Value): Kind {
  if (value === null) return 'null'
  if (typeof value === 'string') return instant.test(value) && !Number.isNaN(Date.parse(value)) ? 'time' : 'text'
  return typeof value === 'number' ? 'number' : 'boolean'
}

export const textOf = (value: Value): string => (value === null ? '' : String(value))

/** A value with its type in sight: texts in quotation marks. */
export const shownValue = (value: Value): string => (typeof value === 'string' ? `“${value}”` : String(value))

/** The value that a person has typed, or why it is none. */
export function readValue(kind: Kind, text: string): Value | Error {
  if (kind === 'null') return null
  if (kind === 'boolean') return text === 'true'
  if (kind === 'time') return Number.isNaN(Date.parse(text)) ? new Error('Choose a date and time.') : text
  if (kind === 'text') return text
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) return new Error('Must be a number such as 31 or 1.5.')
  if (Number.isInteger(number) && !Number.isSafeInteger(number))
    return new Error('Too large for a number: digits would be lost. Store it as text.')
  return number
}

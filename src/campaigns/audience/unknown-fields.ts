import { type Named, unknownNames } from '../../platform/unknown-names.ts'
import { triggerFields } from './request.ts'

/** Contract B.1: the limits of the header X-Service-Warning. */
export const mostNames = 5
const longest = 256
/** Five names of this length, with quotes and commas, fit into the header. */
const longestName = 40

const target: Named = { properties: { project_user_id: {}, device_id: {}, user_id: {}, properties: {} } }
const audienceSchema: Named = { properties: { broadcast: {}, targets: { items: target } } }

/** Names in a request that a trigger ignores, those of the request first. One may have been meant to narrow the audience. */
export const unknownFields = (body: unknown): string[] => [
  ...new Set(
    [
      ...Object.keys(body as object).filter((name) => !triggerFields.includes(name)),
      ...unknownNames(audienceSchema, (body as { audience?: unknown }).audience).map(({ name }) => `audience.${name}`)
    ].slice(0, mostNames)
  )
]

/**
 * `unknown field "recipients"`, with a comma between several names. Callers choose the names, so characters other than
 * printable ASCII are escaped.
 */
export function warningOf(names: readonly string[]): string {
  // Cut first: a name may be as long as a body.
  const shown = names.map((name) => printable(name.slice(0, longest)))
  const whole = sentence(shown)
  return whole.length <= longest ? whole : sentence(shown.map(shortened))
}

const sentence = (names: string[]) => `unknown field ${names.map((name) => `"${name}"`).join(', ')}`
const shortened = (name: string) => (name.length > longestName ? `${name.slice(0, longestName - 3)}...` : name)
const printable = (name: string) =>
  name.replace(/[^\x20-\x7e]|["\\]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\u{${char.codePointAt(0)!.toString(16)}}`
  )

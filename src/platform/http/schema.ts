// Pieces of schemas. Nothing but types may be imported here: the types of responses reach the page of the console.

/** On a schema with a pattern: the rule in words. A symbol, so that printed schemas leave it out. */
export const rule = Symbol('rule')

/** A pattern, and the words for a caller whose value does not match it. */
export const saying = (words: string, pattern: string) => ({ pattern, [rule]: words })

/** For names and tokens, which people see in lists and which travel in headers. */
export const printable = saying('must not hold control characters', '^[^\\u0000-\\u001f\\u007f]*$')

/** On a schema: the schema that decides what to build, if the schema itself allows more for other reasons. */
export const building = Symbol('building')
/** On a schema: the schema that the docs print in its place, if the handler checks more than the schema does. */
export const shownAs = Symbol('shown as')
/** On the schema of an object that takes any name: the most names it takes. */
export const mostNames = Symbol('most names')
/** On the schema of an object: the number of unknown names that are kept, as null, for a warning. */
export const unknownNames = Symbol('unknown names')
/** On the schema of an object: names that it does not list mean something too, so no header warns of them. */
export const takesMore = Symbol('takes more')

/** The part of a JSON schema that decides which values are built. Undefined: all. */
export interface Wanted {
  type?: string | string[]
  properties?: Record<string, Wanted>
  additionalProperties?: Wanted | boolean
  items?: Wanted
  maxItems?: number
  [building]?: Wanted
  [mostNames]?: number
  [unknownNames]?: number
}

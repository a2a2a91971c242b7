import { type TSchema, Type } from '@sinclair/typebox'

// Parts that the schemas of several skills share. Words for programs (states, reasons) are those of the REST API.

export const Maybe = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })
export const Time = (description = 'RFC 3339, in UTC.') => Type.String({ description })
export const MaybeTime = Maybe('RFC 3339, in UTC; null: not yet.')
export const Reasons = (description: string) =>
  Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' }, description })
export const List = <Entry extends TSchema>(entry: Entry, description: string) => Type.Array(entry, { description })
export const Complete = Type.Boolean({ description: 'false: there are more, or the time was too short to find them.' })

export const ProjectUserId = Type.String({ description: "The project's own id of the user." })
export const TriggerId = Type.String({ description: 'The id that trigger-campaign returned.' })
export const PageSize = (most: number, usual: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `Entries to return; ${usual} unless given.` }))

/** The title and the text of a message, as far as an agent needs them to recognize it. */
export const shortened = (text: string | null): string | null =>
  text !== null && text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
const longestText = 500

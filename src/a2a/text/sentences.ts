import type { Data } from './skill-text.ts'

// Parts of the sentences in which skills describe what they would do.

/** Characters that are invisible or reverse the order of others. Three that join letters and emoji or style them may stay. */
const unseen = /[[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\ufe0f]]/gv

/** As JSON, so that a value cannot pass for words of the agent and shows all it holds. */
export const quoted = (value: unknown): string =>
  JSON.stringify(value).replace(unseen, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)

function named(name: string): string {
  const shown = quoted(name)
  return /^[\p{L}\p{N}_.-]+$/u.test(name) && shown === `"${name}"` ? name : shown
}

export function propertiesIn(data: Data): string {
  const entries = Object.entries((data.properties ?? {}) as Data)
  return entries.length > 0
    ? ` with ${entries.map(([name, value]) => `${named(name)} ${quoted(value)}`).join(', ')}`
    : ''
}

/** The `sendAt` of a request in words; empty for one that is done at once. */
export const timeIn = ({ sendAt }: Data): string => (typeof sendAt === 'string' ? ` at ${quoted(sendAt)}` : '')

export function targetIn(data: Data): string {
  if (typeof data.deviceId === 'string') return `the device ${quoted(data.deviceId)}`
  if (typeof data.projectUserId === 'string') return `the user ${quoted(data.projectUserId)}`
  if (typeof data.userId === 'string') return `the user with the internal id ${quoted(data.userId)}`
  return 'nobody so far'
}

export function audienceIn({ broadcast, targets }: Data): string {
  if (broadcast === true) return 'everyone it is meant for'
  if (Array.isArray(targets)) return targets.map((one: Data) => targetIn(one)).join(', ')
  return 'its default audience'
}

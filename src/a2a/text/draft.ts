import type { Found } from './pattern.ts'
import type { Reading } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'

export type Target = { projectUserId: string } | { deviceId: string } | { userId: string }

/** The parts gathered from a text, until they are concluded. */
export interface Draft {
  text: SkillText
  data: Data
  /** Whether the text has named the campaign's default audience. */
  defaultAudience: boolean
  /** An id that may be a user's or a device's. */
  candidate: string | undefined
  /** Why the order still needs a yes. */
  note: string | undefined
  /** Why it is not clear. */
  fault: string | undefined
}

const one = ['projectUserId', 'deviceId', 'userId']

/** The draft that data would have come from: without the fields that say nothing or that no sentence shows. */
export function draftOf(text: SkillText, given: Data): Draft {
  const data = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => text.shows.includes(name) && !saysNothing(name, value))
  )
  return { text, data, defaultAudience: false, candidate: undefined, note: undefined, fault: undefined }
}

const saysNothing = (name: string, value: unknown): boolean => {
  if (name === 'broadcast') return value !== true
  if (name === 'targets') return !Array.isArray(value) || value.length === 0
  if (name === 'properties') return Object.keys(value ?? {}).length === 0
  return !/^(string|number|boolean)$/.test(typeof value)
}

export const targetsOf = ({ data }: Draft): Target[] => [
  ...((data.targets ?? []) as Target[]),
  ...one.flatMap((name) => (typeof data[name] === 'string' ? [{ [name]: data[name] } as Target] : []))
]

/** Adds what a pattern found, in the order in which it stands in the text. */
export function addFound(draft: Draft, last: Found | undefined): void {
  const all: Found[] = []
  for (let found = last; found; found = found.before) all.unshift(found)
  for (const { slot, value } of all) add(draft, slot, value)
}

function add(draft: Draft, slot: string, value: unknown): void {
  const { data, text } = draft
  if (slot === 'asked') return
  if (slot === 'defaultAudience') draft.defaultAudience = true
  else if (slot === 'candidate') draft.candidate = String(value)
  else if (slot === 'quotedEventName') add(draft, 'eventName', value)
  else if (slot === 'having') [data.property, data.value] = value as [string, unknown]
  else if (slot === 'json') for (const pair of Object.entries(value as Data)) addProperty(draft, pair)
  else if (slot === 'property') addProperty(draft, value as [string, unknown])
  else if (text.many && one.includes(slot)) {
    const targets = (data.targets ?? []) as Data[]
    if (!targets.some((known) => known[slot] === value)) data.targets = [...targets, { [slot]: value }]
  } else if (slot in data) draft.fault ??= `The ${slot} is given twice.`
  else data[slot] = value
}

function addProperty(draft: Draft, [name, value]: [string, unknown]): void {
  const before = (draft.data.properties ?? {}) as Data
  if (Object.hasOwn(before, name)) draft.fault ??= `${name} is given twice.`
  // Names like __proto__ become properties like any other.
  draft.data.properties = Object.fromEntries([...Object.entries(before), [name, value]])
}

/** The reading that a draft amounts to. `unsure`: it is rather a question than an order. */
export function conclude(draft: Draft, unsure = false): Reading {
  const { text, data, defaultAudience, candidate, note } = draft
  const { skill } = text
  const open = targetsOf(draft).length === 0 && data.broadcast !== true && !defaultAudience
  const understood = text.describe(data, open)
  const fault = draft.fault ?? audienceFault(draft)
  if (fault !== undefined)
    return { kind: 'ask', skill, data, missing: [], question: `${fault} Please say the whole of it again.`, understood }
  const needs = text.needs.filter(
    ({ asked, fields }) => !fields.some((name) => name in data) && !(asked === 'audience' && defaultAudience)
  )
  if (needs.length > 0) {
    const [{ asked, question }] = needs as [(typeof needs)[0]]
    const either = candidate !== undefined && /^(target|audience)$/.test(asked)
    return {
      kind: 'ask',
      skill,
      data,
      missing: needs.map((need) => need.asked),
      question: either ? `Is ${JSON.stringify(candidate)} a user or a device?` : question,
      understood,
      ...(candidate !== undefined && { candidate }),
      ...(note !== undefined && { note })
    }
  }
  // An order that reaches many at once is never carried out on a text alone.
  if (!text.reads && (unsure || data.broadcast === true || defaultAudience || note !== undefined)) {
    const why = note === undefined ? (unsure ? 'I understood: ' : '') : `${note} I understood: `
    const question = `${why}${understood} Shall I? Say yes or no.`
    return { kind: 'confirm', skill, data, question, understood }
  }
  return { kind: 'act', skill, data, understood }
}

function audienceFault(draft: Draft): string | undefined {
  const { text, data, defaultAudience, candidate } = draft
  const named = targetsOf(draft).length
  const said = [data.broadcast === true, defaultAudience, named > 0, candidate !== undefined].filter(Boolean).length
  if (said > 1 || (!text.many && named > 1)) return 'I cannot tell for whom this is meant.'
  return undefined
}

import { questionFor, type Reading } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'

export type Target = { projectUserId: string } | { deviceId: string } | { userId: string }

/** The parts gathered from a text, until they are concluded. */
export interface Draft {
  text: SkillText
  /** The value of the field that names what the skill acts on. */
  name: string | undefined
  targets: Target[]
  everyone: boolean
  defaultAudience: boolean
  content: Map<string, string>
  properties: Map<string, unknown>
  /** An id that may be a user's or a device's. */
  candidate: string | undefined
  /** Whether the text has said the noun of a skill that names nothing. */
  nounSaid: boolean
  /** Nouns without an id, as in "the device of user ana". */
  bareNouns: number
  /** Words that have no place in the reading. A single one prevents the action. */
  unclear: string[]
  /** Why the order still needs a yes. */
  note: string | undefined
  /** A sentence that says what is wrong, where there is a better one than that a word was not understood. */
  because: string | undefined
}

export const emptyDraft = (text: SkillText): Draft => ({
  text,
  name: undefined,
  targets: [],
  everyone: false,
  defaultAudience: false,
  content: new Map(),
  properties: new Map(),
  candidate: undefined,
  nounSaid: false,
  bareNouns: 0,
  unclear: [],
  note: undefined,
  because: undefined
})

export function dataOf(draft: Draft): Data {
  const { text, name, targets, everyone, content, properties } = draft
  const addressed =
    text.audience === 'many'
      ? { ...(targets.length > 0 && { targets }), ...(everyone && { broadcast: true }) }
      : (targets[0] ?? {})
  return {
    ...(text.name && name !== undefined && { [text.name.field]: name }),
    ...addressed,
    ...Object.fromEntries(content),
    // Names like __proto__ become properties like any other.
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) })
  }
}

/** The draft that data would have come from. */
export function draftOf(text: SkillText, data: Data): Draft {
  const draft = emptyDraft(text)
  const name = text.name && data[text.name.field]
  if (typeof name === 'string') draft.name = name
  if (text.audience === 'many') {
    draft.targets = Array.isArray(data.targets) ? [...(data.targets as Target[])] : []
    draft.everyone = data.broadcast === true
  } else if (text.audience === 'one') {
    for (const key of ['deviceId', 'projectUserId', 'userId'])
      if (typeof data[key] === 'string') draft.targets.push({ [key]: data[key] } as Target)
  }
  for (const key of text.content?.fields.keys() ?? [])
    if (typeof data[key] === 'string') draft.content.set(key, data[key])
  for (const [key, value] of Object.entries((data.properties ?? {}) as Data)) draft.properties.set(key, value)
  return draft
}

/** Notes a word that has no place in the reading, and why where that can be said. */
export function doubt(draft: Draft, what: string, because?: string): void {
  draft.unclear.push(what)
  draft.because ??= because
}

export function setName(draft: Draft, name: string): void {
  if (draft.name !== undefined && draft.name !== name)
    doubt(draft, name, `Both "${draft.name}" and "${name}" are named. One at a time, please.`)
  draft.name ??= name
}

export function addTarget(draft: Draft, target: Target): void {
  if (draft.text.audience !== 'many' && draft.targets.length > 0)
    doubt(draft, JSON.stringify(target), 'It goes to one user or one device at a time. To which one?')
  const same = JSON.stringify(target)
  if (!draft.targets.some((one) => JSON.stringify(one) === same)) draft.targets.push(target)
}

export const isClear = (draft: Draft): boolean => draft.unclear.length === 0

/** The reading that a draft amounts to. `unsure`: it is rather a question than an order. */
export function conclude(draft: Draft, unsure = false): Reading {
  const { text, targets, everyone, defaultAudience, note } = draft
  checkAudience(draft)
  const { skill } = text
  const data = dataOf(draft)
  const understood = text.describe(data, targets.length === 0 && !everyone && !defaultAudience)
  if (!isClear(draft)) return { kind: 'ask', skill, data, missing: [], question: sayAgain(draft), understood }
  const missing = missingOf(draft)
  if (missing.length > 0) return askFor(draft, missing, data, understood)
  // An order that reaches many at once is never carried out on a text alone.
  if (unsure || everyone || defaultAudience || note !== undefined) {
    const question = `${note === undefined ? '' : `${note} `}${understood} Shall I? Say yes or no.`
    return { kind: 'confirm', skill, data, question, understood }
  }
  return { kind: 'act', skill, data, understood }
}

const sayAgain = ({ because, unclear }: Draft): string =>
  because
    ? `${because} Please say the whole of it again.`
    : `I do not understand ${JSON.stringify(unclear.join(' '))} here. Please say it again in other words.`

function askFor({ text, candidate, note }: Draft, missing: string[], data: Data, understood: string): Reading {
  const question =
    candidate !== undefined && /^(target|audience)$/.test(missing[0]!)
      ? `Is ${JSON.stringify(candidate)} a user or a device?`
      : questionFor(text, missing[0]!)
  return {
    kind: 'ask',
    skill: text.skill,
    data,
    missing,
    question,
    understood,
    ...(candidate !== undefined && { candidate }),
    ...(note !== undefined && { note })
  }
}

/** For "premium users", "ana's device", "a welcome push to user ana". */
const notNamed = 'I cannot tell for whom this is meant: I know users and devices only by their ids.'

function checkAudience(draft: Draft): void {
  const { text, targets, everyone, defaultAudience, candidate } = draft
  if (text.audience === 'none') return
  if ((everyone || defaultAudience) && text.audience !== 'many')
    doubt(draft, 'everyone', 'This reaches one user or device at a time. To reach everyone, trigger a campaign.')
  if (draft.bareNouns > 0 && (targets.length > 0 || everyone || candidate !== undefined))
    doubt(draft, 'device', notNamed)
  if ([everyone, defaultAudience, targets.length > 0, candidate !== undefined].filter(Boolean).length > 1)
    doubt(draft, candidate ?? 'everyone', notNamed)
}

function missingOf({ text, name, targets, everyone, defaultAudience, content }: Draft): string[] {
  const missing: string[] = []
  if (text.name && name === undefined) missing.push(text.name.field)
  if (text.audience === 'many' && targets.length === 0 && !everyone && !defaultAudience) missing.push('audience')
  if (text.audience === 'one' && targets.length === 0) missing.push('target')
  if (text.content && !text.content.oneOf.some((field) => content.has(field))) missing.push(text.content.main)
  return missing
}

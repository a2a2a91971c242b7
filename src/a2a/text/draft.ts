import { type Data, describe, questionFor, type Reading, type Skill } from './reading.ts'

export type Target = { projectUserId: string } | { deviceId: string } | { userId: string }

/** What was gathered from a text, until it is decided what it amounts to. */
export interface Draft {
  skill: Skill
  /** The id of the user to be made, the name of the event, the id of the campaign. */
  name: string | undefined
  targets: Target[]
  everyone: boolean
  defaultAudience: boolean
  content: Map<string, string>
  properties: Map<string, unknown>
  candidate: string | undefined
  /** Whether the word push, or notification, was said. */
  pushNamed: boolean
  /** "The device of user ana": a noun that nothing followed. */
  bareNouns: number
  /** What has no place in the reading. One such thing, and nothing is done. */
  unclear: string[]
  /** Why it is not done without a yes, though it reads well. */
  note: string | undefined
  /** A sentence that says what is wrong, where more can be said than that it was not understood. */
  because: string | undefined
}

const nameFields = new Map<Skill, string>([
  ['create-user', 'projectUserId'],
  ['track-event', 'eventName'],
  ['trigger-campaign', 'campaignId']
])

export const emptyDraft = (skill: Skill): Draft => ({
  skill,
  name: undefined,
  targets: [],
  everyone: false,
  defaultAudience: false,
  content: new Map(),
  properties: new Map(),
  candidate: undefined,
  pushNamed: false,
  bareNouns: 0,
  unclear: [],
  note: undefined,
  because: undefined
})

export function dataOf(draft: Draft): Data {
  const { skill, name, targets, everyone, content, properties } = draft
  const field = nameFields.get(skill)
  const addressed =
    skill === 'trigger-campaign'
      ? { ...(targets.length > 0 && { targets }), ...(everyone && { broadcast: true }) }
      : (targets[0] ?? {})
  return {
    ...(field !== undefined && name !== undefined && { [field]: name }),
    ...addressed,
    ...Object.fromEntries(content),
    // Names like __proto__ become properties like any other.
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) })
  }
}

/** The draft that a reading was made of, to go on with. */
export function draftOf(skill: Skill, data: Data): Draft {
  const draft = emptyDraft(skill)
  const field = nameFields.get(skill)
  if (field !== undefined && typeof data[field] === 'string') draft.name = data[field]
  if (skill === 'trigger-campaign') {
    draft.targets = Array.isArray(data.targets) ? [...(data.targets as Target[])] : []
    draft.everyone = data.broadcast === true
  } else if (skill !== 'create-user') {
    for (const key of ['deviceId', 'projectUserId', 'userId'])
      if (typeof data[key] === 'string') draft.targets.push({ [key]: data[key] } as Target)
  }
  if (skill === 'send-push-notification')
    for (const key of ['title', 'body', 'imageUrl', 'landingUrl'])
      if (typeof data[key] === 'string') draft.content.set(key, data[key])
  for (const [key, value] of Object.entries((data.properties ?? {}) as Data)) draft.properties.set(key, value)
  return draft
}

/** Notes that something cannot be read, and why if that can be said. */
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
  if (draft.skill !== 'trigger-campaign' && draft.targets.length > 0)
    doubt(draft, JSON.stringify(target), 'It goes to one user or one device at a time. To which one?')
  const same = JSON.stringify(target)
  if (!draft.targets.some((one) => JSON.stringify(one) === same)) draft.targets.push(target)
}

export const isClear = (draft: Draft): boolean => draft.unclear.length === 0

/** What a draft amounts to. `unsure`: it reads well, but is rather a question than an order. */
export function conclude(draft: Draft, unsure = false): Reading {
  const { skill, targets, everyone, defaultAudience } = draft
  checkAudience(draft)
  const data = dataOf(draft)
  const understood = describe(skill, data, targets.length === 0 && !everyone && !defaultAudience)
  if (!isClear(draft)) {
    const question = draft.because
      ? `${draft.because} Please say the whole of it again.`
      : `I do not understand ${JSON.stringify(draft.unclear.join(' '))} here. Please say it again in other words.`
    return {
      kind: 'ask',
      skill,
      data,
      missing: [],
      question,
      understood
    }
  }
  const missing = missingOf(draft)
  if (missing.length > 0) {
    const { candidate } = draft
    const question =
      candidate !== undefined && /^(target|audience)$/.test(missing[0]!)
        ? `Is ${JSON.stringify(candidate)} a user or a device?`
        : questionFor(missing[0]!)
    return {
      kind: 'ask',
      skill,
      data,
      missing,
      question,
      understood,
      ...(candidate !== undefined && { candidate }),
      ...(draft.note !== undefined && { note: draft.note })
    }
  }
  // What reaches many at once is never done on a text alone.
  if (unsure || everyone || defaultAudience || draft.note !== undefined) {
    const question = `${draft.note === undefined ? '' : `${draft.note} `}${understood} Shall I? Say yes or no.`
    return { kind: 'confirm', skill, data, question, understood }
  }
  return { kind: 'act', skill, data, understood }
}

/** "Premium users", "ana's device", "a welcome push to user ana". */
const notNamed = 'I cannot tell for whom this is meant: I know users and devices only by their ids.'

function checkAudience(draft: Draft): void {
  const { skill, targets, everyone, defaultAudience, candidate } = draft
  if (skill === 'create-user') return
  if ((everyone || defaultAudience) && skill !== 'trigger-campaign')
    doubt(draft, 'everyone', 'This reaches one user or device at a time. To reach everyone, trigger a campaign.')
  if (draft.bareNouns > 0 && (targets.length > 0 || everyone || candidate !== undefined))
    doubt(draft, 'device', notNamed)
  if ([everyone, defaultAudience, targets.length > 0, candidate !== undefined].filter(Boolean).length > 1)
    doubt(draft, candidate ?? 'everyone', notNamed)
}

function missingOf({ skill, name, targets, everyone, defaultAudience, content }: Draft): string[] {
  const missing: string[] = []
  const field = nameFields.get(skill)
  if (field !== undefined && name === undefined) missing.push(field)
  if (skill === 'trigger-campaign' && targets.length === 0 && !everyone && !defaultAudience) missing.push('audience')
  if ((skill === 'track-event' || skill === 'send-push-notification') && targets.length === 0) missing.push('target')
  if (skill === 'send-push-notification' && !content.has('title') && !content.has('body')) missing.push('body')
  return missing
}

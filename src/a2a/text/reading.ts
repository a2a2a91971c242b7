/** How a text was read. Plain data: it can be stored and given back with the next text. */
export type Skill = 'create-user' | 'track-event' | 'send-push-notification' | 'trigger-campaign'
export type Data = Record<string, unknown>

export type Reading =
  | { kind: 'act'; skill: Skill; data: Data; understood: string }
  | {
      kind: 'ask'
      skill?: Skill
      data: Data
      /** The fields that are asked for. Empty where the text as a whole is unclear. */
      missing: string[]
      question: string
      understood: string
      /** An id that was named without saying whether it is a user's or a device's. */
      candidate?: string
      /** Why it waits for a yes once it is whole. */
      note?: string
    }
  | { kind: 'confirm'; skill: Skill; data: Data; question: string; understood: string }
  | { kind: 'none'; question: string }
  | { kind: 'declined'; understood: string }

export const nothing: Reading = {
  kind: 'none',
  question:
    'I did not understand that. I can create users, track events, send pushes and trigger campaigns. For example: ' +
    'Create user ana with plan=premium. Track event purchase for user ana with amount=49.9. ' +
    'Send a push to user ana with title "Hello" and body "Welcome back". Trigger campaign welcome for user ana.'
}
export const tooLong: Reading = {
  kind: 'none',
  question: 'The text is too long to be read. Send what you want as a data part, with the field skill.'
}
export const asData: Reading = {
  kind: 'none',
  question:
    'This is JSON in a text. Send it as a data part: {"data": {"skill": "create-user", "projectUserId": "ana"}}.'
}
export const unclearNo: Reading = {
  kind: 'ask',
  data: {},
  missing: [],
  question:
    'I cannot tell what the "no" or "not" in it is about, and I wait for no condition. Please say only what is to be done.',
  understood: 'Nothing was done.'
}
export const declined = (understood = 'I am not to do it, and did nothing.'): Reading => ({
  kind: 'declined',
  understood
})

/** What is invisible, or turns the order of what is seen. Two of them join letters and emoji, and may stay. */
const unseen = /[[\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv
/** As JSON, so that it cannot be taken for words of ours, and shows all it holds. */
const quoted = (value: unknown) =>
  JSON.stringify(value).replace(unseen, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
const named = (name: string) => (/^[\p{L}\p{N}_.-]+$/u.test(name) ? name : quoted(name))

function properties(data: Data): string {
  const entries = Object.entries((data.properties ?? {}) as Data)
  return entries.length > 0
    ? ` with ${entries.map(([name, value]) => `${named(name)} ${quoted(value)}`).join(', ')}`
    : ''
}

function target(data: Data): string {
  if (typeof data.deviceId === 'string') return `the device ${quoted(data.deviceId)}`
  if (typeof data.projectUserId === 'string') return `the user ${quoted(data.projectUserId)}`
  if (typeof data.userId === 'string') return `the user with the internal id ${quoted(data.userId)}`
  return 'nobody so far'
}

/** One sentence that says what would be done, for the one who asked to check. `open`: nobody has said for whom. */
export function describe(skill: Skill, data: Data, open = false): string {
  switch (skill) {
    case 'create-user':
      return `Create the user ${data.projectUserId === undefined ? '(no id so far)' : quoted(data.projectUserId)}${properties(data)}.`
    case 'track-event':
      return `Track the event ${data.eventName === undefined ? '(no name so far)' : quoted(data.eventName)} for ${target(data)}${properties(data)}.`
    case 'send-push-notification': {
      const content = (['title', 'body', 'imageUrl', 'landingUrl'] as const)
        .filter((field) => data[field] !== undefined)
        .map((field) => `${names.get(field)} ${quoted(data[field])}`)
      return `Send a push to ${target(data)}${content.length > 0 ? ` with the ${content.join(', the ')}` : ''}.`
    }
    case 'trigger-campaign': {
      const name = data.campaignId === undefined ? '(none so far)' : quoted(data.campaignId)
      // Not "for everyone with plan premium": properties choose nobody.
      const passed = properties(data).replace(/^ with /, ', and pass it ')
      return `Trigger the campaign ${name} for ${open ? 'nobody so far' : audience(data)}${passed}.`
    }
  }
}

function audience({ broadcast, targets }: Data): string {
  if (broadcast === true) return 'everyone it is meant for'
  if (Array.isArray(targets)) return targets.map((one: Data) => target(one)).join(', ')
  return 'its default audience'
}

const names = new Map<string, string>([
  ['title', 'title'],
  ['body', 'body'],
  ['imageUrl', 'image'],
  ['landingUrl', 'link']
])

const questions = new Map<string, string>([
  ['projectUserId', 'What is the id of the user?'],
  ['eventName', 'What is the name of the event?'],
  ['campaignId', 'What is the id of the campaign?'],
  ['target', 'For which user or which device? Say for example: user ana, or: device ana-phone.'],
  ['audience', 'For whom? Say for example: user ana, device ana-phone, everyone, or: the default audience.'],
  ['body', 'What is the push to say? Put it in quotes.']
])

export const questionFor = (field: string): string => questions.get(field) ?? `What is ${field}?`

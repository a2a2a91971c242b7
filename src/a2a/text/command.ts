import { idAfter, readClauses } from './clauses.ts'
import type { Cursor } from './cursor.ts'
import { conclude, type Draft, doubt, emptyDraft, setName } from './draft.ts'
import { forbids } from './forbidding.ts'
import { isFieldName } from './keys.ts'
import { declined, nothing, type Reading, type Skill, unclearNo } from './reading.ts'
import { pairAt } from './values.ts'
import * as words from './words.ts'

/** Reads a text that is to be an order of its own. */
export function readCommand(cursor: Cursor): Reading {
  if (isRefusal(cursor)) return declined()
  const opened = skipOpenings(cursor, 0)
  // "Don't forget to create user ana" forbids nothing. But a no stands in it, so it is asked about.
  const reminder = cursor.phrase(opened.next, words.reminders)
  const forbidden = forbids(cursor, reminder > 0 ? opened.next + reminder : 0, opened.next + reminder)
  if (forbidden !== 'no') return forbidden === 'yes' ? declined() : unclearNo
  opened.next += reminder
  const led = leadingTarget(cursor, opened.next)
  const again = led ? skipOpenings(cursor, led.next) : opened
  const found = objectOf(cursor, again.next)
  if (!found) return nothing
  const { draft, next } = found
  // The verb says it: whoever broadcasts means everyone.
  if (cursor.word(again.next) === 'broadcast') draft.everyone = true
  if (led) {
    draft.targets.push(...led.draft.targets)
  }
  readClauses(cursor, next, draft)
  if (words.changes.has(cursor.word(again.next)!)) checkChange(draft)
  if (draft.unclear.some((word) => words.verbForms.has(word.toLowerCase())))
    draft.because = 'I can do one thing at a time.'
  // "Create user ana?" is no order, "Could you create user ana?" is one.
  const asks = cursor.isQuestion && !opened.asked && !again.asked
  return conclude(draft, asks || reminder > 0)
}

/** A user who is changed need not be there for it: then the user is made, which may be a slip in the id. */
function checkChange(draft: Draft): void {
  if (draft.properties.size === 0) doubt(draft, 'what', 'Say what is to change, as in: plan="gold".')
  draft.note = 'A user who is not there yet is made.'
}

/** Whether the whole text is a no. */
export function isRefusal(cursor: Cursor): boolean {
  return isAll(cursor, words.refusals)
}

/** Whether the whole text is a yes. One with a question mark is none. */
export function isYes(cursor: Cursor): boolean {
  return !cursor.isQuestion && isAll(cursor, words.yes)
}

function isAll(cursor: Cursor, phrases: readonly (readonly string[])[]): boolean {
  let at = cursor.skipMarks(0)
  let some = false
  while (at < cursor.length) {
    const length = cursor.phrase(at, phrases)
    const polite = cursor.phrase(at, [['please'], ['thanks'], ['thank', 'you']])
    if (length === 0 && polite === 0) return false
    some ||= length > 0
    at = cursor.skipMarks(at + Math.max(length, polite))
  }
  return some
}

function skipOpenings(cursor: Cursor, start: number): { next: number; asked: boolean } {
  let at = cursor.skipMarks(start, ',;.!:')
  let asked = false
  for (;;) {
    const length = cursor.phrase(at, words.openings)
    if (length === 0) return { next: at, asked }
    asked ||= words.modals.has(cursor.word(at)!) || length > 4
    at = cursor.skipMarks(at + length, ',;.!:')
  }
}

/** "For user ana, track …": whom it is for may come first. */
function leadingTarget(cursor: Cursor, at: number): { draft: Draft; next: number } | undefined {
  if (!/^(for|to|on)$/.test(cursor.word(at) ?? '')) return undefined
  const noun = cursor.skipWords(at + 1, words.targetDeterminers)
  const kind = cursor.word(noun) ?? ''
  if (!words.userNouns.has(kind) && !words.deviceNouns.has(kind)) return undefined
  const id = words.plurals.has(kind) ? undefined : idAfter(cursor, noun + 1)
  if (!id) return undefined
  const draft = emptyDraft('trigger-campaign')
  draft.targets.push(words.userNouns.has(kind) ? { projectUserId: id.value } : { deviceId: id.value })
  return { draft, next: id.next }
}

/** What a push is to say, right after whom it is for: `"…"`, `: "…"`, `that "…"`. */
function isTextAt(cursor: Cursor, at: number): boolean {
  const place = cursor.isMark(at, ':,') || cursor.word(at) === 'that' ? at + 1 : at
  return cursor.token(place)?.kind === 'quoted'
}

/** The verb and what it is about. The same verb means one thing or another by the noun. */
function objectOf(cursor: Cursor, at: number): { draft: Draft; next: number } | undefined {
  if (cursor.word(at) === 'new' && cursor.word(at + 1) === 'user') return named('create-user', at + 1)
  const skillNamed = words.skillIds.get(cursor.word(at) ?? '')
  if (skillNamed) return skillNamed === 'send-push-notification' ? pushed(at + 1) : named(skillNamed, at)
  const verb = words.allVerbs.find((one) => cursor.phraseAt(at, one.words))
  if (!verb) return undefined
  const start = at + verb.words.length
  const noun = cursor.skipWords(start, words.determiners)
  const kind = cursor.word(noun) ?? ''
  const can = (skill: Skill) => verb.skills.includes(skill)

  if (words.userNouns.has(kind) && can('create-user')) return named('create-user', noun)
  if (words.eventNouns.has(kind)) return can('track-event') ? named('track-event', noun) : mixedUp(noun)
  if (words.campaignNouns.has(kind)) return can('trigger-campaign') ? named('trigger-campaign', noun) : mixedUp(noun)
  const push = cursor.phrase(noun, words.pushNouns)
  if (push > 0 && !words.contentFields.some(([phrase]) => phrase[0] === kind && verb.words[0] === 'push')) {
    if (!can('send-push-notification')) return mixedUp(noun)
    const found = pushed(noun + push)
    if (words.plurals.has(cursor.word(noun + push - 1)!)) doubt(found.draft, kind, 'I can send one push at a time.')
    return found
  }
  // "the welcome campaign", "a purchase event"
  const isVerb = words.verbForms.has(kind) && cursor.token(noun)?.kind === 'word'
  // "Trigger add user d1" is two verbs, and no name.
  const name = isVerb ? undefined : cursor.value(noun)
  const after = cursor.word(noun + 1) ?? ''
  if (name !== undefined && words.eventNouns.has(after) && can('track-event')) return before('track-event', name)
  if (name !== undefined && words.campaignNouns.has(after) && can('trigger-campaign'))
    return before('trigger-campaign', name)

  const [skill] = verb.bare
  if (!skill) return undefined
  const draft = emptyDraft(skill)
  // "Alert: user ana ..." may tell of something.
  if (/^(alert|message)$/.test(verb.words[0]!) && cursor.isMark(start, ':')) draft.note = 'Is that an order?'
  // "Send ana a push", "notify ana: "…"": whoever that is.
  if (skill === 'send-push-notification' && name !== undefined && cursor.token(noun)?.kind === 'word') {
    const late = cursor.skipWords(noun + 1, words.determiners)
    const texted = noun === start && !isFieldName(kind) && isTextAt(cursor, noun + 1)
    if (texted || cursor.phrase(late, words.pushNouns) > 0) draft.candidate = name
    return { draft, next: draft.candidate === undefined ? start : noun + 1 }
  }
  if (skill === 'send-push-notification' || words.userNouns.has(kind) || words.deviceNouns.has(kind))
    return { draft, next: start }
  if (name === undefined) return { draft, next: start }
  nameIt(draft, name, noun + 1)
  return { draft, next: noun + 1 }

  function pushed(next: number): { draft: Draft; next: number } {
    return { draft: { ...emptyDraft('send-push-notification'), pushNamed: true }, next }
  }

  /** A name without quotes ends with its word, and what follows must show it. */
  function nameIt(draft: Draft, name: string, next: number): void {
    setName(draft, name)
    const follows = cursor.word(next) ?? ''
    const plain = cursor.token(next - 1)?.kind === 'word' && draft.skill !== 'create-user'
    if (plain && cursor.phrase(next, words.fillers) > 0 && !words.afterName.has(follows))
      doubt(draft, follows, `Is "${name}" the whole name? Put it in quotes.`)
  }

  function named(skill: Skill, place: number): { draft: Draft; next: number } {
    const draft = emptyDraft(skill)
    if (words.plurals.has(cursor.word(place)!)) doubt(draft, cursor.word(place)!, 'I can do one thing at a time.')
    const noun = skill === 'create-user' && /^(account|profile)$/.test(cursor.word(place + 1) ?? '') ? place + 1 : place
    const id = idAfter(cursor, noun + 1, skill !== 'create-user')
    if (!id) return { draft, next: noun + 1 }
    nameIt(draft, id.value, id.next)
    const isWord = cursor.token(id.next - 1)?.kind === 'word'
    // "Create user plan: premium" has no id, "create user ana: plan=premium" has one.
    if (skill === 'create-user' && isWord && cursor.isMark(id.next, ':') && !pairAt(cursor, id.next + 1))
      doubt(draft, `${id.value}:`)
    // "Make the user happy" makes none.
    if (cursor.word(at) === 'make' && id.next === noun + 2 && isWord)
      doubt(draft, id.value, `Is "${id.value}" the id of the user?`)
    return { draft, next: id.next }
  }

  function before(skill: Skill, name: string): { draft: Draft; next: number } {
    const draft = emptyDraft(skill)
    setName(draft, name)
    if (words.plurals.has(after)) doubt(draft, after, 'I can do one thing at a time.')
    return { draft, next: noun + 2 }
  }

  /** A verb of one thing with the noun of another, as in "trigger event". */
  function mixedUp(place: number): { draft: Draft; next: number } | undefined {
    const [skill] = verb!.bare
    if (!skill) return undefined
    const draft = emptyDraft(skill)
    doubt(draft, `${verb!.words.join(' ')} … ${cursor.shown(place)}`)
    return { draft, next: place + 1 }
  }
}

import type { Cursor } from './cursor.ts'
import { type Draft, doubt, emptyDraft, setName } from './draft.ts'
import { idAfter } from './ids.ts'
import { isFieldName } from './keys.ts'
import type { SkillText } from './skill-text.ts'
import { pairAt } from './values.ts'
import { textOf, type Verb } from './vocabulary.ts'
import * as words from './words.ts'

/** A draft of the skill that a text asks for, and the place after its verb and object. */
interface Found {
  draft: Draft
  next: number
}

const oneThing = 'I can do one thing at a time.'

/** Reads the verb and its object. The noun decides what a verb means that several skills share. */
export function objectOf(cursor: Cursor, at: number): Found | undefined {
  const { texts, verbs } = cursor.vocabulary
  for (const text of texts) {
    const shortcut = cursor.phrase(at, text.shortcuts ?? [])
    if (shortcut > 0) return named(cursor, text, at, at + shortcut - 1)
  }
  const byId = textOf(cursor.vocabulary, cursor.word(at))
  if (byId) return byId.name ? named(cursor, byId, at, at) : unnamed(byId, at + 1)
  const verb = verbs.find((one) => cursor.phraseAt(at, one.words))
  if (!verb) return undefined
  const start = at + verb.words.length
  const noun = cursor.skipWords(start, words.determiners)
  const found = withNoun(cursor, verb, at, noun)
  if (found) return found === 'nothing' ? undefined : found
  return withNameBefore(cursor, verb, noun) ?? withoutNoun(cursor, verb, start, noun)
}

/** "create user ana", "send a push": the noun follows the verb. */
function withNoun(cursor: Cursor, verb: Verb, at: number, noun: number): Found | 'nothing' | undefined {
  const kind = cursor.word(noun) ?? ''
  for (const text of cursor.vocabulary.texts) {
    const length = cursor.phrase(noun, text.nouns)
    if (length === 0 || text.isNoun?.(verb.words[0]!, kind) === false) continue
    if (!verb.texts.includes(text)) {
      // "Send user ana a push" names its recipient first.
      if (words.userNouns.has(kind)) continue
      return mixedUp(cursor, verb, noun) ?? 'nothing'
    }
    if (text.name) return named(cursor, text, at, noun + length - 1)
    const found = unnamed(text, noun + length)
    if (cursor.vocabulary.plurals.has(cursor.word(noun + length - 1)!))
      doubt(found.draft, kind, text.oneAtATime ?? oneThing)
    return found
  }
  return undefined
}

/** "the welcome campaign", "a purchase event": the name stands before the noun. */
function withNameBefore(cursor: Cursor, verb: Verb, noun: number): Found | undefined {
  const name = nameAt(cursor, noun)
  const text = verb.texts.find((one) => one.name && !one.name.isUserId && cursor.phrase(noun + 1, one.nouns) > 0)
  if (name === undefined || !text) return undefined
  const draft = emptyDraft(text)
  setName(draft, name)
  const next = noun + 1 + cursor.phrase(noun + 1, text.nouns)
  const last = cursor.word(next - 1)!
  if (cursor.vocabulary.plurals.has(last)) doubt(draft, last, oneThing)
  return { draft, next }
}

/** "notify ana: "…"", "track purchase": the verb alone says which skill it is. */
function withoutNoun(cursor: Cursor, verb: Verb, start: number, noun: number): Found | undefined {
  const text = verb.bare
  if (!text) return undefined
  const draft = emptyDraft(text)
  const kind = cursor.word(noun) ?? ''
  const name = nameAt(cursor, noun)
  // "Alert: user ana ..." may report something.
  if (text.telling?.has(verb.words[0]!) && cursor.isMark(start, ':')) draft.note = 'Is that an order?'
  if (!text.name) {
    // "Send ana a push", "notify ana: "…"": ana may be a user or a device.
    if (name === undefined || cursor.token(noun)?.kind !== 'word') return { draft, next: start }
    const late = cursor.skipWords(noun + 1, words.determiners)
    const texted = noun === start && !isFieldName(text, kind) && isTextAt(cursor, noun + 1)
    if (texted || cursor.phrase(late, text.nouns) > 0) draft.candidate = name
    return { draft, next: draft.candidate === undefined ? start : noun + 1 }
  }
  if (name === undefined || words.userNouns.has(kind) || words.deviceNouns.has(kind)) return { draft, next: start }
  nameIt(cursor, draft, name, noun + 1)
  return { draft, next: noun + 1 }
}

/** The name at this place. "Trigger add user d1" has two verbs and no name. */
function nameAt(cursor: Cursor, at: number): string | undefined {
  const isVerb = cursor.vocabulary.verbForms.has(cursor.word(at) ?? '') && cursor.token(at)?.kind === 'word'
  return isVerb ? undefined : cursor.value(at)
}

/** The text of a push right after its recipient: `"…"`, `: "…"`, `that "…"`. */
function isTextAt(cursor: Cursor, at: number): boolean {
  const place = cursor.isMark(at, ':,') || cursor.word(at) === 'that' ? at + 1 : at
  return cursor.token(place)?.kind === 'quoted'
}

const unnamed = (text: SkillText, next: number): Found => ({ draft: { ...emptyDraft(text), nounSaid: true }, next })

/** A name without quotes ends with its word, which the next word must confirm. */
function nameIt(cursor: Cursor, draft: Draft, name: string, next: number): void {
  setName(draft, name)
  const follows = cursor.word(next) ?? ''
  const plain = cursor.token(next - 1)?.kind === 'word' && !draft.text.name?.isUserId
  if (plain && cursor.phrase(next, words.fillers) > 0 && !words.afterName.has(follows))
    doubt(draft, follows, `Is "${name}" the whole name? Put it in quotes.`)
}

/** The skill with the name behind its noun at `place`. `at` is the place of the verb. */
function named(cursor: Cursor, text: SkillText, at: number, place: number): Found {
  const draft = emptyDraft(text)
  const isUserId = text.name!.isUserId
  if (cursor.vocabulary.plurals.has(cursor.word(place)!)) doubt(draft, cursor.word(place)!, oneThing)
  const noun = text.name!.between?.has(cursor.word(place + 1) ?? '') ? place + 1 : place
  const id = idAfter(cursor, noun + 1, !isUserId)
  if (!id) return { draft, next: noun + 1 }
  nameIt(cursor, draft, id.value, id.next)
  const isWord = cursor.token(id.next - 1)?.kind === 'word'
  // "Create user plan: premium" has no id, "create user ana: plan=premium" has one.
  if (isUserId && isWord && cursor.isMark(id.next, ':') && !pairAt(cursor, id.next + 1)) doubt(draft, `${id.value}:`)
  // "Make the user happy" creates no user.
  if (cursor.word(at) === 'make' && id.next === noun + 2 && isWord)
    doubt(draft, id.value, `Is "${id.value}" the id of the user?`)
  return { draft, next: id.next }
}

/** A verb of one skill with the noun of another, as in "trigger event". */
function mixedUp(cursor: Cursor, verb: Verb, place: number): Found | undefined {
  if (!verb.bare) return undefined
  const draft = emptyDraft(verb.bare)
  doubt(draft, `${verb.words.join(' ')} … ${cursor.shown(place)}`)
  return { draft, next: place + 1 }
}

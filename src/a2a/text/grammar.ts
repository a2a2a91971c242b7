import { idAfter, readClauses } from './clauses.ts'
import { isRefusal, isYes, readCommand } from './command.ts'
import { type Cursor, createCursor } from './cursor.ts'
import { addTarget, conclude, type Draft, draftOf, isClear, setName } from './draft.ts'
import { asData, declined, describe, nothing, type Reading, tooLong } from './reading.ts'
import { type Tokens, tokenize } from './tokens.ts'
import * as words from './words.ts'

export type { Data, Reading, Skill } from './reading.ts'

/** Longer texts are not read: everything a push may say is shorter. */
export const longestText = 4_000

/**
 * What an agent's or a person's text asks for. No model and no network: the same text is always read the same way. It
 * says `act` only if every word of the text has its place in the reading; else it asks. `pending` is the reading that
 * led to the question which this text answers.
 */
export function read(text: string, context: { pending?: Reading } = {}): Reading {
  return context.pending ? answer(context.pending, text) : readAlone(text)
}

function readAlone(text: string): Reading {
  const split = splitOf(text)
  if ('kind' in split) return split
  if (/^\s*(?:```\w*\s*)?\{(?!\{)/.test(text)) return asData
  const reading = readCommand(createCursor(split.tokens))
  if (split.fault === undefined || !('skill' in reading) || reading.skill === undefined) return reading
  const question = `${split.fault} Please write it again.`
  return {
    kind: 'ask',
    skill: reading.skill,
    data: {},
    missing: [],
    question,
    understood: describe(reading.skill, {}, true)
  }
}

/** Its tokens, or why there is nothing to read. */
export function splitOf(text: string): Tokens | Reading {
  if (text.length > longestText) return tooLong
  if (text.includes('\0') || !isWellFormed(text)) return nothing
  const split = tokenize(text)
  return split.tokens.length === 0 ? nothing : split
}

/** No half of a character that takes two: what cannot be stored is not read. */
const isWellFormed = (text: string) => !/\p{Cs}/u.test(text)

/** Goes on with a question that was asked. A new order in the place of an answer counts as one. */
export function answer(previous: Reading, text: string): Reading {
  if (previous.kind !== 'ask' && previous.kind !== 'confirm') return readAlone(text)
  const split = splitOf(text)
  if ('kind' in split || split.fault !== undefined) return again(previous)
  const cursor = createCursor(split.tokens)
  if (isRefusal(cursor)) return declined()
  if (previous.kind === 'confirm') {
    const { skill, data, understood } = previous
    if (isYes(cursor)) return { kind: 'act', skill, data, understood }
  }
  const filled = previous.kind === 'ask' ? fill(previous, cursor, text) : undefined
  if (filled) return filled
  const fresh = readAlone(text)
  return fresh.kind === 'none' ? again(previous) : fresh
}

function again<Asked extends Reading & { question: string }>(previous: Asked): Asked {
  const said = 'I did not understand that. '
  return previous.question.startsWith(said) ? previous : { ...previous, question: said + previous.question }
}

/** The earlier reading with what the answer adds; undefined if it is no answer to the question. */
function fill(previous: Reading & { kind: 'ask' }, cursor: Cursor, text: string): Reading | undefined {
  const { skill, data, missing, candidate, note } = previous
  const [field] = missing
  if (skill === undefined || field === undefined) return undefined
  const draft = draftOf(skill, data)
  draft.candidate = candidate
  draft.note = note
  const kind = soleNoun(cursor)
  if (candidate !== undefined && kind) return withTarget(draft, kind, candidate)
  // A user's name is no id.
  const isName = field === 'projectUserId' && cursor.phraseAt(0, ['the', 'name', 'is'])
  const sole = isName ? undefined : soleValue(cursor, nounsOf.get(field))
  if (sole !== undefined && /^(projectUserId|eventName|campaignId)$/.test(field)) {
    setName(draft, sole)
    return conclude(draft)
  }
  // A new answer to "for whom?" takes the place of the one that was not clear.
  if (field === 'target' || field === 'audience') draft.candidate = undefined
  const bare = draft.candidate === undefined && sole !== undefined && (field === 'target' || field === 'audience')
  if (bare) draft.candidate = sole
  else readClauses(cursor, skipAnswerWords(cursor), draft)
  if (isClear(draft)) return conclude(draft, cursor.isQuestion)
  return field === 'body' ? asBody(previous, text) : undefined
}

function withTarget(draft: Draft, kind: 'user' | 'device', id: string): Reading {
  draft.candidate = undefined
  addTarget(draft, kind === 'user' ? { projectUserId: id } : { deviceId: id })
  return conclude(draft)
}

/** What is said without quotes may be the text, or a remark about it: better to ask once more. */
function asBody({ skill, data }: Reading & { kind: 'ask' }, text: string): Reading | undefined {
  if (readAlone(text).kind !== 'none') return undefined
  const draft = draftOf(skill!, data)
  draft.content.set('body', text.trim())
  return conclude(draft, true)
}

const answerWords = [['it', 'is'], ["it's"], ['its'], ['the', 'id', 'is'], ['id', 'is'], ['the', 'name', 'is'], ['use']]
const soleNouns = new Map<string, 'user' | 'device'>([
  ['user', 'user'],
  ['customer', 'user'],
  ['device', 'device'],
  ['phone', 'device']
])
/** Answers that are none: without quotes nobody means them, nor a no that stands behind other words. */
const noAnswer = new Set([
  ...`help hello hi hey hm hmm huh ok okay yes yeah yep sure no idk dunno unknown unsure uncertain unclear none nothing nobody
   skip whatever any undefined null nil nan sorry pardon done good great maybe perhaps possibly n/a na tbd tba tbc todo
   later wrong incorrect undecided unspecified anything something`.split(/\s+/),
  ...words.refusals.flatMap((phrase) => (phrase.length === 1 ? phrase : []))
])

const skipAnswerWords = (cursor: Cursor): number => cursor.phrase(0, answerWords)

/** "A user." as the whole of the answer. */
function soleNoun(cursor: Cursor): 'user' | 'device' | undefined {
  const at = cursor.skipWords(skipAnswerWords(cursor), words.determiners)
  return cursor.skipMarks(at + 1, '.!') >= cursor.length ? soleNouns.get(cursor.word(at) ?? '') : undefined
}

/** A single name or id as the whole of the answer, with or without the noun: `ana`, `user ana`, `the id is ana`. */
function soleValue(cursor: Cursor, nouns: ReadonlySet<string> = new Set()): string | undefined {
  let at = skipAnswerWords(cursor)
  const noun = cursor.skipWords(at, words.determiners)
  const found = nouns.has(cursor.word(noun) ?? '') ? idAfter(cursor, noun + 1) : undefined
  if (found) at = found.next - 1
  if (cursor.skipMarks(at + 1, '.!') < cursor.length || noAnswer.has(cursor.word(at) ?? '')) return undefined
  return cursor.value(at)
}

const nounsOf = new Map([
  ['projectUserId', words.userNouns],
  ['eventName', words.eventNouns],
  ['campaignId', words.campaignNouns]
])

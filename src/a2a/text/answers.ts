import { readClauses } from './clauses.ts'
import type { Cursor } from './cursor.ts'
import { addTarget, conclude, type Draft, draftOf, isClear, setName } from './draft.ts'
import { idAfter } from './ids.ts'
import type { Phrases } from './phrases.ts'
import type { Reading } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'
import { textOf } from './vocabulary.ts'
import * as words from './words.ts'

/** The earlier reading with what the answer adds; undefined if the text is no answer to the question. */
export function fill(
  previous: Reading & { kind: 'ask' },
  cursor: Cursor,
  text: string,
  fresh: () => Reading
): Reading | undefined {
  const { data, missing, candidate, note } = previous
  const [field] = missing
  const skill = textOf(cursor.vocabulary, previous.skill)
  if (!skill || field === undefined) return undefined
  const draft = draftOf(skill, data)
  draft.candidate = candidate
  draft.note = note
  const kind = soleNoun(cursor)
  if (candidate !== undefined && kind) return withTarget(draft, kind, candidate)
  const isName = field === skill.name?.field
  // A user's name is no id.
  const givesName = isName && skill.name!.isUserId && cursor.phraseAt(0, ['the', 'name', 'is'])
  const sole = givesName ? undefined : soleValue(cursor, isName ? skill.nouns : [])
  if (sole !== undefined && isName) {
    setName(draft, sole)
    return conclude(draft)
  }
  // A new answer to "for whom?" replaces the one that was not clear.
  if (field === 'target' || field === 'audience') draft.candidate = undefined
  const bare = draft.candidate === undefined && sole !== undefined && (field === 'target' || field === 'audience')
  if (bare) draft.candidate = sole
  else readClauses(cursor, skipAnswerWords(cursor), draft)
  if (isClear(draft)) return conclude(draft, cursor.isQuestion)
  return field === skill.content?.main ? asContent(skill, field, data, text, fresh) : undefined
}

function withTarget(draft: Draft, kind: 'user' | 'device', id: string): Reading {
  draft.candidate = undefined
  addTarget(draft, kind === 'user' ? { projectUserId: id } : { deviceId: id })
  return conclude(draft)
}

/** An answer without quotes may be the text or a remark about it, so it needs a yes. */
function asContent(
  skill: SkillText,
  field: string,
  data: Data,
  text: string,
  fresh: () => Reading
): Reading | undefined {
  if (fresh().kind !== 'none') return undefined
  const draft = draftOf(skill, data)
  draft.content.set(field, text.trim())
  return conclude(draft, true)
}

const answerWords = [['it', 'is'], ["it's"], ['its'], ['the', 'id', 'is'], ['id', 'is'], ['the', 'name', 'is'], ['use']]
const soleNouns = new Map<string, 'user' | 'device'>([
  ['user', 'user'],
  ['customer', 'user'],
  ['device', 'device'],
  ['phone', 'device']
])
/** Words that answer nothing unless they are quoted, with the refusals of one word. */
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
function soleValue(cursor: Cursor, nouns: Phrases): string | undefined {
  let at = skipAnswerWords(cursor)
  const noun = cursor.skipWords(at, words.determiners)
  const length = cursor.phrase(noun, nouns)
  const found = length > 0 ? idAfter(cursor, noun + length) : undefined
  if (found) at = found.next - 1
  if (cursor.skipMarks(at + 1, '.!') < cursor.length || noAnswer.has(cursor.word(at) ?? '')) return undefined
  return cursor.value(at)
}

import { readClauses } from './clauses.ts'
import type { Cursor } from './cursor.ts'
import { conclude, type Draft, doubt, type Target } from './draft.ts'
import { forbids } from './forbidding.ts'
import { idAfter } from './ids.ts'
import { objectOf } from './object.ts'
import { declined, nothingRead, type Reading, unclearNo } from './reading.ts'
import type { VerbMeaning } from './skill-text.ts'
import * as words from './words.ts'

/** Reads a text that is to be an order of its own. */
export function readCommand(cursor: Cursor): Reading {
  if (isRefusal(cursor)) return declined
  const opened = skipOpenings(cursor, 0)
  // "Don't forget to create user ana" forbids nothing. But it holds a negation, so it needs a yes.
  const reminder = cursor.phrase(opened.next, words.reminders)
  const forbidden = forbids(cursor, reminder > 0 ? opened.next + reminder : 0, opened.next + reminder)
  if (forbidden !== 'no') return forbidden === 'yes' ? declined : unclearNo
  opened.next += reminder
  const led = leadingTarget(cursor, opened.next)
  const again = led ? skipOpenings(cursor, led.next) : opened
  const found = objectOf(cursor, again.next)
  if (!found) return nothingRead(cursor.vocabulary.texts)
  const { draft, next } = found
  if (led) draft.targets.push(led.target)
  readClauses(cursor, next, draft)
  apply(draft, draft.text.verbMeans?.(cursor.word(again.next)!))
  if (draft.unclear.some((word) => cursor.vocabulary.verbForms.has(word.toLowerCase())))
    draft.because = 'I can do one thing at a time.'
  // "Create user ana?" is no order, "Could you create user ana?" is one.
  const asks = cursor.isQuestion && !opened.asked && !again.asked
  return conclude(draft, asks || reminder > 0)
}

function apply(draft: Draft, meaning: VerbMeaning | undefined): void {
  if (meaning?.everyone) draft.everyone = true
  if (meaning?.needsProperties !== undefined && draft.properties.size === 0)
    doubt(draft, 'what', meaning.needsProperties)
  if (meaning?.note !== undefined) draft.note = meaning.note
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

/** "For user ana, track …": the recipient may come first. */
function leadingTarget(cursor: Cursor, at: number): { target: Target; next: number } | undefined {
  if (!/^(for|to|on)$/.test(cursor.word(at) ?? '')) return undefined
  const noun = cursor.skipWords(at + 1, words.targetDeterminers)
  const kind = cursor.word(noun) ?? ''
  if (!words.userNouns.has(kind) && !words.deviceNouns.has(kind)) return undefined
  const id = cursor.vocabulary.plurals.has(kind) ? undefined : idAfter(cursor, noun + 1)
  if (!id) return undefined
  const target = words.userNouns.has(kind) ? { projectUserId: id.value } : { deviceId: id.value }
  return { target, next: id.next }
}

import type { Cursor } from './cursor.ts'
import * as words from './words.ts'

/**
 * Whether a negation before the verb forbids the order. `beside`: it belongs to a condition, a statement or a phrase like
 * "no problem", so the text is unclear. `opened` is the place after the openings of the text, `start` the first place of
 * a negation.
 */
export function forbids(cursor: Cursor, start: number, opened: number): 'yes' | 'no' | 'beside' {
  const no = firstNo(cursor, start)
  if (no === undefined) return 'no'
  const rest = restAfter(cursor, no, opened)
  return rest === undefined || isForbiddenFrom(cursor, rest) ? 'yes' : 'beside'
}

/** The place of a negation before a verb, with anything between them, or right after it. */
function firstNo(cursor: Cursor, start: number): number | undefined {
  for (let at = start; at < cursor.length; at += 1) {
    const word = cursor.word(at)
    if (word === undefined) continue
    if (words.negations.has(word)) return hasVerbAfter(cursor, at) ? at : undefined
    // "Send no push", "create nothing".
    if (cursor.vocabulary.verbForms.has(word)) return isNone(cursor, at + 1) ? at + 1 : undefined
  }
  return undefined
}

const isNone = (cursor: Cursor, at: number) => /^(no|nothing|none|nobody)$/.test(cursor.word(at) ?? '')

function hasVerbAfter(cursor: Cursor, at: number): boolean {
  for (let here = at + 1; here < cursor.length; here += 1)
    if (cursor.vocabulary.verbForms.has(cursor.word(here) ?? '')) return true
  return false
}

/** The place after a phrase that holds a negation and forbids nothing; undefined if there is none. */
function restAfter(cursor: Cursor, no: number, opened: number): number | undefined {
  const phrase = cursor.phrase(opened, words.harmless)
  if (phrase > 0) return opened + phrase
  const condition = cursor.phrase(opened, words.conditions)
  if (condition > 0) return markAfter(cursor, opened + condition) ?? opened + condition
  return states(cursor, no) ? orderAfter(cursor, no) : undefined
}

function markAfter(cursor: Cursor, start: number): number | undefined {
  for (let at = start; at < cursor.length; at += 1) if (cursor.isMark(at, ',;.!:')) return at + 1
  return undefined
}

/** Whether the negation states a fact: "user ana is not there", "I have not made her", "we don't have her". */
function states(cursor: Cursor, no: number): boolean {
  const word = cursor.word(no)!
  if (/^(doesn't|didn't|isn't|aren't|wasn't)$/.test(word)) return true
  const after = cursor.word(no + 1) ?? ''
  if (/^(don't|not|cannot|can't)$/.test(word) && /^(have|see|know|mind|care|find)$/.test(after)) return true
  return /^(not|no|never)$/.test(word) && /^(is|are|was|were|am|has|have|had|does|did)$/.test(cursor.word(no - 1) ?? '')
}

/** The place where an order of its own begins, behind a mark. */
function orderAfter(cursor: Cursor, start: number): number | undefined {
  for (let rest = markAfter(cursor, start); rest !== undefined; rest = markAfter(cursor, rest)) {
    let at = rest
    for (;;) {
      const length = cursor.phrase(at, words.openings) || (/^(and|but)$/.test(cursor.word(at) ?? '') ? 1 : 0)
      if (length === 0) break
      at = cursor.skipMarks(at + length, ',')
    }
    if (cursor.vocabulary.verbForms.has(cursor.word(at) ?? '')) return rest
  }
  return undefined
}

const between = /^(to|you|we|us|ever|even|please|just|from|be)$/

/** Whether one of the verbs has a negation right before it. */
function isForbiddenFrom(cursor: Cursor, rest: number): boolean {
  for (let at = rest; at < cursor.length; at += 1) {
    if (!cursor.vocabulary.verbForms.has(cursor.word(at) ?? '')) continue
    let before = at - 1
    while (before > rest && between.test(cursor.word(before) ?? '')) before -= 1
    const word = before >= rest ? (cursor.word(before) ?? '') : ''
    if (isNone(cursor, at + 1) || (words.negations.has(word) && !/^(instead|rather|wait|hold)$/.test(word))) return true
  }
  return false
}

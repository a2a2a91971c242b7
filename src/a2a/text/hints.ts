import type { Cursor } from './cursor.ts'
import type { Draft } from './draft.ts'
import type { ContentText } from './skill-text.ts'
import { endsValue, isPropertyName } from './values.ts'
import { beforeProperty, linkWords, named, negations, waiting } from './words.ts'

const clock = /^(?:\d{1,2}(?:am|pm)|\d{1,2}:\d{2}(?:am|pm|:\d{2})?|\d{4}-\d{2}-\d{2}(?:t.*)?)$/

/** A time of day or a date. It is no id: "by 5pm" names no user. */
export const isTime = (cursor: Cursor, at: number): boolean => clock.test(cursor.word(at) ?? '')

/** Advice about a word that has no place in the reading, where there is any. */
export function hintAt(cursor: Cursor, at: number, draft: Draft): string | undefined {
  const word = cursor.word(at)
  if (word === undefined) return undefined
  if (waiting.has(word) || isTime(cursor, at) || isTime(cursor, at + 1))
    return 'I cannot wait for a time or a condition: what I do, I do at once.'
  if (cursor.phrase(at, named) > 0)
    return draft.text.name?.isUserId
      ? 'A name is a property and no id. Write for example: id ana, name="…".'
      : 'I know users and devices only by their ids.'
  if (draft.text.content) return textHint(cursor, at, draft.text.content)
  return draft.text.properties ? propertyHint(cursor, at) : undefined
}

/** "saying hello": without quotes the text has no end. */
function textHint(cursor: Cursor, at: number, { phrases, quote }: ContentText): string | undefined {
  const found = phrases.find(([phrase]) => cursor.phraseAt(at, phrase))
  if (found) return `Put it in quotes, as in: ${found[0].join(' ')} "…".`
  return cursor.isMark(at - 1, ':') || cursor.word(at) === 'that' ? quote : undefined
}

/** "with plan premium" may be a property, "with full access" is none: the caller can write it so that it shows. */
function propertyHint(cursor: Cursor, at: number): string | undefined {
  const key = cursor.token(at)
  if (
    key?.kind !== 'word' ||
    !isPropertyName(key.text) ||
    cursor.vocabulary.notAKey.has(key.lower) ||
    negations.has(key.lower)
  )
    return
  let before = at - 1
  while (/^(a|an|the)$/.test(cursor.word(before) ?? '')) before -= 1
  const led = beforeProperty.has(cursor.word(before) ?? '') || /^(and|plus|&|set)$/.test(cursor.word(before) ?? '')
  if (!led && !cursor.isMark(before, ',')) return undefined
  const place = cursor.skipWords(at + 1, linkWords)
  const value = cursor.value(place)
  if (value === undefined) return undefined
  const shown = endsValue(cursor, place + 1) ? JSON.stringify(value) : '"…"'
  return `If ${key.text} is a property, write ${key.text}=${shown}.`
}

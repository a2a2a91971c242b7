import type { Cursor } from './cursor.ts'
import type { Draft } from './draft.ts'
import { endsValue, isPropertyName } from './values.ts'
import { beforeProperty, contentFields, linkWords, named, negations, notAKey, waiting } from './words.ts'

const clock = /^(?:\d{1,2}(?:am|pm)|\d{1,2}:\d{2}(?:am|pm|:\d{2})?|\d{4}-\d{2}-\d{2}(?:t.*)?)$/

/** A time of day or a date, and no id: whoever says "by 5pm" names nobody. */
export const isTime = (cursor: Cursor, at: number): boolean => clock.test(cursor.word(at) ?? '')

/** What to do about a word that has no place, where more can be said than that it was not understood. */
export function hintAt(cursor: Cursor, at: number, draft: Draft): string | undefined {
  const word = cursor.word(at)
  if (word === undefined) return undefined
  if (waiting.has(word) || isTime(cursor, at) || isTime(cursor, at + 1))
    return 'I cannot wait for a time or a condition: what I do, I do at once.'
  if (cursor.phrase(at, named) > 0)
    return draft.skill === 'create-user'
      ? 'A name is a property and no id. Write for example: id ana, name="…".'
      : 'I know users and devices only by their ids.'
  return draft.skill === 'send-push-notification' ? textHint(cursor, at) : propertyHint(cursor, at)
}

/** "saying hello": it cannot be told where the text ends. */
function textHint(cursor: Cursor, at: number): string | undefined {
  const content = contentFields.find(([phrase]) => cursor.phraseAt(at, phrase))
  if (content) return `Put it in quotes, as in: ${content[0].join(' ')} "…".`
  return cursor.isMark(at - 1, ':') || cursor.word(at) === 'that' ? 'Put the text of the push in quotes.' : undefined
}

/** "with plan premium" may be a property, "with full access" is none: whoever knows can write it so that it shows. */
function propertyHint(cursor: Cursor, at: number): string | undefined {
  const key = cursor.token(at)
  if (key?.kind !== 'word' || !isPropertyName(key.text) || notAKey.has(key.lower) || negations.has(key.lower)) return
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

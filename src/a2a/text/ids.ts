import type { Cursor } from './cursor.ts'
import * as words from './words.ts'

/** The id after a noun: `user ana`, `user: ana`, `user with the id ana`, `user "ana"`. */
export function idAfter(cursor: Cursor, at: number, mayBeVerb = false): { value: string; next: number } | undefined {
  let place = cursor.skipMarks(at, ':')
  const intro = cursor.phrase(place, mayBeVerb ? [...words.nameIntros, ...words.idIntros] : words.idIntros)
  if (intro > 0) place = cursor.skipWords(cursor.skipMarks(place + intro, ':'), words.linkWords)
  // "New user, send her a push": no user is called send, but an event or a campaign may be.
  if (!mayBeVerb && cursor.vocabulary.verbForms.has(cursor.word(place) ?? '')) return undefined
  const value = cursor.value(place) ?? keyedId(cursor, place)
  return value === undefined ? undefined : { value, next: place + 1 }
}

/** `user id=42` */
function keyedId(cursor: Cursor, at: number): string | undefined {
  const token = cursor.token(at)
  return token?.kind === 'word' ? /^id=([^,;=:"{}<>()]+)$/i.exec(token.text)?.[1] : undefined
}

import type { Cursor } from './cursor.ts'
import { addTarget, type Draft, doubt, isClear, setName, type Target } from './draft.ts'
import { hintAt, isTime } from './hints.ts'
import { addresses, contentKeys, nameKeys, noField, otherKeys, targetKeys } from './keys.ts'
import { besideAt, endsValue, pairAt } from './values.ts'
import * as words from './words.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const deviceTarget = (id: string): Target => ({ deviceId: id })
const userTarget = (id: string): Target => ({ projectUserId: id })

/** Reads what follows a verb and its object, up to the end. What has no meaning here is noted and makes it unclear. */
export function readClauses(cursor: Cursor, start: number, draft: Draft): void {
  let at = start
  let inProperties = false
  /** A word after which something must come, as long as nothing did. */
  let expected: string | undefined
  while (at < cursor.length) {
    const next = clauseAt(at)
    if (next > at) {
      at = next
      continue
    }
    doubt(draft, cursor.shown(at), hintAt(cursor, at, draft))
    at += 1
  }
  checkEnd()

  function checkEnd(): void {
    const last = cursor.length - 1
    const open = last >= start && cursor.isMark(last, ':,') ? cursor.shown(last) : expected
    if (open !== undefined && isClear(draft)) doubt(draft, open, `Something is missing after ${JSON.stringify(open)}.`)
  }

  /** The place after the clause that begins here; the same place if none does. */
  function clauseAt(here: number): number {
    if (cursor.isMark(here, ',;.!?:()')) return here + 1
    const intro = introAt(here)
    if (intro > 0) return intro
    const next =
      jsonAt(here) ||
      contentAt(here) ||
      keyedAt(here) ||
      nameAt(here) ||
      namedAt(here) ||
      targetAt(here) ||
      pushNounAt(here)
    if (next > 0) {
      expected = undefined
      return next
    }
    return fillerAt(here) || textAt(here) || here
  }

  function jsonAt(here: number): number {
    const token = cursor.token(here)
    if (token?.kind !== 'json' || draft.skill === 'send-push-notification') return 0
    for (const [key, value] of Object.entries(token.value)) {
      if (!inProperties && isReserved(key)) doubt(draft, key, 'Send a whole payload as a data part.')
      addProperty(key, value)
    }
    return here + 1
  }

  function isReserved(key: string): boolean {
    const lower = key.toLowerCase()
    const isName = nameKeys.get(draft.skill)?.has(lower) ?? false
    return isName || targetKeys.has(lower) || otherKeys.test(lower) || lower === 'properties'
  }

  function contentAt(here: number): number {
    if (draft.skill !== 'send-push-notification') return 0
    const found = words.contentFields.find(([phrase]) => cursor.phraseAt(here, phrase))
    if (!found) return 0
    const [phrase, field] = found
    let place = here + phrase.length
    const signed = cursor.isMark(place, ':') || cursor.word(place) === '='
    place = cursor.skipWords(cursor.skipMarks(cursor.skipWords(place, words.linkWords), ':'), words.linkWords)
    const token = cursor.token(place)
    const isUrl = token?.kind === 'word' && addresses.get(field)?.test(token.text) === true
    const whole = token?.kind === 'quoted' || (signed && endsValue(cursor, place + 1))
    const value = whole ? cursor.value(place) : undefined
    if (value === undefined && !isUrl) return 0
    setContent(field, isUrl ? token.text : value!)
    return place + 1
  }

  /** "Send user ana a push", "send "Hi" as a push": the noun may come late, once. */
  function pushNounAt(here: number): number {
    if (draft.skill !== 'send-push-notification' || draft.pushNamed) return 0
    if (draft.targets.length === 0 && draft.candidate === undefined && draft.content.size === 0) return 0
    const noun = cursor.skipWords(/^(as|via)$/.test(cursor.word(here) ?? '') ? here + 1 : here, words.determiners)
    const length = cursor.phrase(noun, words.pushNouns)
    if (length === 0 || words.plurals.has(cursor.word(noun)!)) return 0
    draft.pushNamed = true
    return noun + length
  }

  function introAt(here: number): number {
    if (draft.skill === 'send-push-notification' || !words.propertyIntros.has(cursor.word(here) ?? '')) return 0
    inProperties = true
    expected = cursor.word(here)
    return cursor.skipMarks(cursor.skipWords(here + 1, words.linkWords), ':')
  }

  function keyedAt(here: number): number {
    const pair = pairAt(cursor, here) ?? (mayStandBeside(here) ? besideAt(cursor, here) : undefined)
    if (!pair) return 0
    const { key, value, next } = pair
    if (value === undefined) {
      doubt(draft, key, `I cannot tell the value of ${key}. Put it in quotes.`)
      return next
    }
    const lower = key.toLowerCase()
    const whom = targetKeys.get(lower)
    if (inProperties) addProperty(key, value)
    else if (lower === 'broadcast' && draft.skill === 'trigger-campaign' && typeof value === 'boolean') {
      if (value) draft.everyone = true
    } else if (otherKeys.test(lower) || (lower === 'id' && draft.skill !== 'create-user'))
      doubt(draft, key, `I cannot tell what ${key} means here.`)
    else if (nameKeys.get(draft.skill)?.has(lower)) setName(draft, String(value))
    else if (whom && draft.skill !== 'create-user') {
      const id = String(value)
      addTarget(
        draft,
        whom === 'device' ? deviceTarget(id) : whom === 'inner' && uuid.test(id) ? { userId: id } : userTarget(id)
      )
    } else if (draft.skill !== 'send-push-notification') addProperty(key, value)
    else if (contentKeys.has(lower)) setContent(contentKeys.get(lower)!, String(value))
    else doubt(draft, key, noField(cursor, here, key))
    return next
  }

  function mayStandBeside(here: number): boolean {
    if (draft.skill === 'send-push-notification') return false
    let before = here - 1
    while (before >= start && /^(a|an|the)$/.test(cursor.word(before) ?? '')) before -= 1
    if (inProperties || words.beforeProperty.has(cursor.word(before) ?? '')) return true
    return draft.properties.size > 0 && (cursor.isMark(before, ',') || /^(and|plus|&)$/.test(cursor.word(before) ?? ''))
  }

  function nameAt(here: number): number {
    const found = nameIntroduced(cursor, here, draft)
    if (!found) return 0
    setName(draft, found.value)
    return found.next
  }

  /** "A user named "Ana Lee"": what is missing is the id. */
  function namedAt(here: number): number {
    const length = draft.skill === 'create-user' && draft.name === undefined ? cursor.phrase(here, words.named) : 0
    const place = here + length
    const value = length > 0 && endsValue(cursor, place + 1) ? cursor.value(place) : undefined
    if (value === undefined) return 0
    addProperty('name', value)
    return place + 1
  }

  function targetAt(here: number): number {
    if (draft.skill === 'create-user') return 0
    const led = words.prepositions.has(cursor.word(here) ?? '')
    const place = led ? cursor.skipMarks(here + 1, ':') : here
    const all = cursor.phrase(place, words.everyone)
    if (all > 0 && (led || cursor.word(place) !== 'all' || all > 1)) {
      draft.everyone = true
      return place + all
    }
    const usual = cursor.phrase(place, words.defaultAudience)
    if (usual > 0) {
      draft.defaultAudience = true
      return place + usual
    }
    const noun = cursor.skipWords(place, words.targetDeterminers)
    const kind = cursor.word(noun) ?? ''
    if (words.userNouns.has(kind) || words.deviceNouns.has(kind))
      return idsAfter(noun, words.userNouns.has(kind) ? userTarget : deviceTarget)
    const bare = led && !isTime(cursor, place) ? cursor.value(place) : undefined
    if (bare === undefined) return 0
    if (draft.candidate !== undefined) doubt(draft, bare)
    draft.candidate ??= bare
    return place + 1
  }

  function idsAfter(noun: number, toTarget: (id: string) => Target): number {
    const first = idAfter(cursor, noun + 1)
    if (!first) {
      draft.bareNouns += 1
      return noun + 1
    }
    addTarget(draft, toTarget(first.value))
    if (!words.plurals.has(cursor.word(noun)!)) return first.next
    let place = first.next
    let count = 1
    for (;;) {
      let next = cursor.skipMarks(place, ',')
      if (cursor.word(next) === 'and' || cursor.word(next) === '&') next += 1
      const goesOn = next > place && !cursor.isMark(next + 1, ':') && !words.verbForms.has(cursor.word(next) ?? '')
      const id = goesOn && !isNoun(next + 1) ? cursor.value(next) : undefined
      if (id === undefined) {
        // "users active" is no list of users.
        if (count === 1) doubt(draft, first.value)
        return place
      }
      addTarget(draft, toTarget(id))
      count += 1
      place = next + 1
    }
  }

  /** "Users ana, bo and block user cy": whatever that is, it is no id. */
  function isNoun(here: number): boolean {
    const word = cursor.word(cursor.skipWords(here, words.determiners)) ?? ''
    return words.userNouns.has(word) || words.deviceNouns.has(word) || words.campaignNouns.has(word)
  }

  function fillerAt(here: number): number {
    const length = cursor.phrase(here, words.fillers)
    if (words.unfinished.has(cursor.word(here) ?? '')) expected = cursor.word(here)
    return length > 0 ? here + length : 0
  }

  function textAt(here: number): number {
    // "Notify user ana that "…""
    const place = cursor.word(here) === 'that' ? here + 1 : here
    const token = cursor.token(place)
    if (draft.skill !== 'send-push-notification' || token?.kind !== 'quoted') return 0
    if (cursor.token(here - 1)?.kind === 'quoted') return 0
    setContent('body', token.text)
    expected = undefined
    return place + 1
  }

  function setContent(field: string, value: string): void {
    if (draft.content.has(field))
      doubt(draft, value, `There are two texts for the ${field}. Which is the title, which the body?`)
    else if (addresses.get(field)?.test(value) === false) doubt(draft, value, `The ${field} is not a url.`)
    else if (value.trim() === '') doubt(draft, field, `The ${field} is empty.`)
    else draft.content.set(field, value)
  }

  function addProperty(key: string, value: unknown): void {
    if (draft.properties.has(key)) doubt(draft, key, `${key} is given twice.`)
    else draft.properties.set(key, value)
  }
}

/** The id after a noun: `user ana`, `user: ana`, `user with the id ana`, `user "ana"`. */
export function idAfter(cursor: Cursor, at: number, mayBeVerb = false): { value: string; next: number } | undefined {
  let place = cursor.skipMarks(at, ':')
  const intro = cursor.phrase(place, mayBeVerb ? [...words.nameIntros, ...words.idIntros] : words.idIntros)
  if (intro > 0) place = cursor.skipWords(cursor.skipMarks(place + intro, ':'), words.linkWords)
  // "New user, send her a push": nobody is called send, but an event or a campaign may be.
  if (!mayBeVerb && words.verbForms.has(cursor.word(place) ?? '')) return undefined
  const value = cursor.value(place) ?? keyedId(cursor, place)
  return value === undefined ? undefined : { value, next: place + 1 }
}

/** `user id=42` */
function keyedId(cursor: Cursor, at: number): string | undefined {
  const token = cursor.token(at)
  return token?.kind === 'word' ? /^id=([^,;=:"{}<>()]+)$/i.exec(token.text)?.[1] : undefined
}

/** `with id ana` for a user to be made, apart from the noun. Elsewhere it may be anybody's, or anything's. */
function nameIntroduced(cursor: Cursor, at: number, draft: Draft): { value: string; next: number } | undefined {
  if (draft.skill !== 'create-user') return undefined
  const intro = words.idIntros.find((phrase) => cursor.phraseAt(at, phrase))
  return intro ? idAfter(cursor, at) : undefined
}

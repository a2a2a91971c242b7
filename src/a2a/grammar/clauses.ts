import type { Cursor } from './cursor.ts'
import { addTarget, type Draft, doubt, setName, type Target } from './draft.ts'
import { pairAt } from './values.ts'
import * as words from './words.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Names of fields that say whom it is for, in the spellings of the data part and of the HTTP API. */
const targetKeys = new Map<string, 'user' | 'device' | 'inner'>([
  ['user', 'user'],
  ['userid', 'inner'],
  ['user_id', 'inner'],
  ['projectuserid', 'user'],
  ['project_user_id', 'user'],
  ['device', 'device'],
  ['deviceid', 'device'],
  ['device_id', 'device']
])
const nameKeys = new Map([
  ['create-user', new Set(['id', 'user', 'userid', 'user_id', 'projectuserid', 'project_user_id'])],
  ['track-event', new Set(['event', 'eventname', 'event_name'])],
  ['trigger-campaign', new Set(['campaign', 'campaignid', 'campaign_id'])]
])
const contentKeys = new Map([
  ['title', 'title'],
  ['body', 'body'],
  ['text', 'body'],
  ['message', 'body'],
  ['image', 'imageUrl'],
  ['imageurl', 'imageUrl'],
  ['image_url', 'imageUrl'],
  ['landing', 'landingUrl'],
  ['landingurl', 'landingUrl'],
  ['landing_url', 'landingUrl'],
  ['link', 'landingUrl'],
  ['url', 'landingUrl']
])

const deviceTarget = (id: string): Target => ({ deviceId: id })
const userTarget = (id: string): Target => ({ projectUserId: id })

/** Reads what follows a verb and its object, up to the end. What has no meaning here is noted and makes it unclear. */
export function readClauses(cursor: Cursor, start: number, draft: Draft): void {
  let at = start
  let inProperties = false
  while (at < cursor.length) {
    const next = clauseAt(at)
    if (next > at) {
      at = next
      continue
    }
    doubt(draft, cursor.shown(at))
    at += 1
  }

  /** The place after the clause that begins here; the same place if none does. */
  function clauseAt(here: number): number {
    if (cursor.isMark(here, ',;.!?:()')) return here + 1
    return (
      jsonAt(here) ||
      contentAt(here) ||
      introAt(here) ||
      keyedAt(here) ||
      nameAt(here) ||
      targetAt(here) ||
      fillerAt(here) ||
      textAt(here) ||
      here
    )
  }

  function jsonAt(here: number): number {
    const token = cursor.token(here)
    if (token?.kind !== 'json' || draft.skill === 'send-push-notification') return 0
    for (const [key, value] of Object.entries(token.value)) addProperty(key, value)
    return here + 1
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
    const isUrl = token?.kind === 'word' && field.endsWith('Url') && /^https?:\/\/[^\s]+$/.test(token.text)
    const value = token?.kind === 'quoted' || signed ? cursor.value(place) : undefined
    if (value === undefined && !isUrl) return 0
    setContent(field, isUrl ? token.text : value!)
    return place + 1
  }

  function introAt(here: number): number {
    if (draft.skill === 'send-push-notification' || !words.propertyIntros.has(cursor.word(here) ?? '')) return 0
    inProperties = true
    return cursor.skipMarks(cursor.skipWords(here + 1, words.linkWords), ':')
  }

  function keyedAt(here: number): number {
    const pair = pairAt(cursor, here)
    if (!pair) return 0
    const { key, value, next } = pair
    if (value === undefined) {
      doubt(draft, key, `I cannot tell the value of ${key}. Put it in quotes.`)
      return next
    }
    const lower = key.toLowerCase()
    const whom = targetKeys.get(lower)
    if (inProperties) addProperty(key, value)
    else if (nameKeys.get(draft.skill)?.has(lower)) setName(draft, String(value))
    else if (whom && draft.skill !== 'create-user') {
      const id = String(value)
      addTarget(
        draft,
        whom === 'device' ? deviceTarget(id) : whom === 'inner' && uuid.test(id) ? { userId: id } : userTarget(id)
      )
    } else if (draft.skill !== 'send-push-notification') addProperty(key, value)
    else if (contentKeys.has(lower)) setContent(contentKeys.get(lower)!, String(value))
    else doubt(draft, key, `A push has no field ${key}.`)
    return next
  }

  function nameAt(here: number): number {
    const found = nameIntroduced(cursor, here, draft)
    if (!found) return 0
    setName(draft, found.value)
    return found.next
  }

  function targetAt(here: number): number {
    if (draft.skill === 'create-user') return 0
    const led = words.prepositions.has(cursor.word(here) ?? '')
    const place = led ? here + 1 : here
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
    const noun = cursor.skipWords(place, words.determiners)
    const kind = cursor.word(noun) ?? ''
    if (words.userNouns.has(kind) || words.deviceNouns.has(kind))
      return idsAfter(noun, words.userNouns.has(kind) ? userTarget : deviceTarget)
    const bare = led ? cursor.value(place) : undefined
    if (bare === undefined) return 0
    if (draft.candidate !== undefined) doubt(draft, bare)
    draft.candidate ??= bare
    return place + 1
  }

  function idsAfter(noun: number, toTarget: (id: string) => Target): number {
    const first = idAfter(cursor, noun + 1)
    if (!first) return noun + 1
    addTarget(draft, toTarget(first.value))
    if (!words.plurals.has(cursor.word(noun)!)) return first.next
    let place = first.next
    for (;;) {
      let next = cursor.skipMarks(place, ',')
      if (cursor.word(next) === 'and' || cursor.word(next) === '&') next += 1
      const id = next > place && !cursor.isMark(next + 1, ':') ? cursor.value(next) : undefined
      if (id === undefined) return place
      addTarget(draft, toTarget(id))
      place = next + 1
    }
  }

  function fillerAt(here: number): number {
    const length = cursor.phrase(here, words.fillers)
    return length > 0 ? here + length : 0
  }

  function textAt(here: number): number {
    const token = cursor.token(here)
    if (draft.skill !== 'send-push-notification' || token?.kind !== 'quoted') return 0
    setContent('body', token.text)
    return here + 1
  }

  function setContent(field: string, value: string): void {
    if (draft.content.has(field))
      doubt(draft, value, `There are two texts for the ${field}. Which is the title, which the body?`)
    else if (value.trim() === '') doubt(draft, field, `The ${field} is empty.`)
    else draft.content.set(field, value)
  }

  function addProperty(key: string, value: unknown): void {
    if (draft.properties.has(key)) doubt(draft, key, `${key} is given twice.`)
    else draft.properties.set(key, value)
  }
}

/** The id after a noun: `user ana`, `user: ana`, `user with the id ana`, `user "ana"`. */
export function idAfter(cursor: Cursor, at: number): { value: string; next: number } | undefined {
  let place = cursor.skipMarks(at, ':')
  const intro = cursor.phrase(place, words.idIntros)
  if (intro > 0) place = cursor.skipWords(cursor.skipMarks(place + intro, ':'), words.linkWords)
  const value = cursor.value(place)
  return value === undefined ? undefined : { value, next: place + 1 }
}

/** `with id ana` for a user, `named purchase` for an event or a campaign: apart from the noun. */
function nameIntroduced(cursor: Cursor, at: number, draft: Draft): { value: string; next: number } | undefined {
  if (draft.skill === 'send-push-notification') return undefined
  const intro = words.idIntros.find((phrase) => cursor.phraseAt(at, phrase))
  if (!intro) return undefined
  // "with name" is a property of a user more often than not, and the id in "event … with id" may be anybody's.
  const other = draft.skill === 'create-user' ? /^name$/ : /^(id|identifier|device|user)$/
  return intro.some((word) => other.test(word)) ? undefined : idAfter(cursor, at)
}

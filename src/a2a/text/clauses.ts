import type { Cursor } from './cursor.ts'
import { addTarget, type Draft, doubt, isClear, setName, type Target } from './draft.ts'
import { hintAt, isTime } from './hints.ts'
import { idAfter } from './ids.ts'
import { otherKeys, targetKeys } from './keys.ts'
import { besideAt, endsValue, pairAt } from './values.ts'
import * as words from './words.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const deviceTarget = (id: string): Target => ({ deviceId: id })
const userTarget = (id: string): Target => ({ projectUserId: id })

/** Reads what follows a verb and its object, up to the end. A word without a meaning here makes the draft unclear. */
export const readClauses = (cursor: Cursor, start: number, draft: Draft): void =>
  new ClauseReader(cursor, start, draft).read()

/** Each step returns the place after what it has read, and 0 where it read nothing. */
class ClauseReader {
  readonly #cursor: Cursor
  readonly #start: number
  readonly #draft: Draft
  #inProperties = false
  /** The last word that needs a continuation, until that comes. */
  #expected: string | undefined

  constructor(cursor: Cursor, start: number, draft: Draft) {
    this.#cursor = cursor
    this.#start = start
    this.#draft = draft
  }

  read(): void {
    let at = this.#start
    while (at < this.#cursor.length) {
      const next = this.#clauseAt(at)
      if (next > 0) {
        at = next
        continue
      }
      doubt(this.#draft, this.#cursor.shown(at), hintAt(this.#cursor, at, this.#draft))
      at += 1
    }
    this.#checkEnd()
  }

  #checkEnd(): void {
    const last = this.#cursor.length - 1
    const open = last >= this.#start && this.#cursor.isMark(last, ':,') ? this.#cursor.shown(last) : this.#expected
    if (open !== undefined && isClear(this.#draft))
      doubt(this.#draft, open, `Something is missing after ${JSON.stringify(open)}.`)
  }

  #clauseAt(here: number): number {
    if (this.#cursor.isMark(here, ',;.!?:()')) return here + 1
    const intro = this.#introAt(here)
    if (intro > 0) return intro
    const next =
      this.#jsonAt(here) ||
      this.#contentAt(here) ||
      this.#keyedAt(here) ||
      this.#nameAt(here) ||
      this.#givenNameAt(here) ||
      this.#targetAt(here) ||
      this.#nounAt(here)
    if (next > 0) {
      this.#expected = undefined
      return next
    }
    return this.#fillerAt(here) || this.#textAt(here)
  }

  #jsonAt(here: number): number {
    const token = this.#cursor.token(here)
    if (token?.kind !== 'json' || !this.#draft.text.properties) return 0
    for (const [key, value] of Object.entries(token.value)) {
      if (!this.#inProperties && this.#isReserved(key)) doubt(this.#draft, key, 'Send a whole payload as a data part.')
      this.#addProperty(key, value)
    }
    return here + 1
  }

  #isReserved(key: string): boolean {
    const lower = key.toLowerCase()
    const isName = this.#draft.text.name?.keys.has(lower) ?? false
    return isName || targetKeys.has(lower) || otherKeys.test(lower) || lower === 'properties'
  }

  #contentAt(here: number): number {
    const { content } = this.#draft.text
    const found = content?.phrases.find(([phrase]) => this.#cursor.phraseAt(here, phrase))
    if (!content || !found) return 0
    const [phrase, field] = found
    const cursor = this.#cursor
    let place = here + phrase.length
    const signed = cursor.isMark(place, ':') || cursor.word(place) === '='
    place = cursor.skipWords(cursor.skipMarks(cursor.skipWords(place, words.linkWords), ':'), words.linkWords)
    const token = cursor.token(place)
    const isUrl = token?.kind === 'word' && content.addresses.get(field)?.test(token.text) === true
    const whole = token?.kind === 'quoted' || (signed && endsValue(cursor, place + 1))
    const value = whole ? cursor.value(place) : undefined
    if (value === undefined && !isUrl) return 0
    this.#setContent(field, isUrl ? token.text : value!)
    return place + 1
  }

  /** "Send user ana a push", "send "Hi" as a push": the noun may come late, once. */
  #nounAt(here: number): number {
    const { text, nounSaid, targets, candidate, content } = this.#draft
    if (text.name || nounSaid) return 0
    if (targets.length === 0 && candidate === undefined && content.size === 0) return 0
    const cursor = this.#cursor
    const noun = cursor.skipWords(/^(as|via)$/.test(cursor.word(here) ?? '') ? here + 1 : here, words.determiners)
    const length = cursor.phrase(noun, text.nouns)
    if (length === 0 || cursor.vocabulary.plurals.has(cursor.word(noun)!)) return 0
    this.#draft.nounSaid = true
    return noun + length
  }

  #introAt(here: number): number {
    const word = this.#cursor.word(here)
    if (!this.#draft.text.properties || !words.propertyIntros.has(word ?? '')) return 0
    this.#inProperties = true
    this.#expected = word
    return this.#cursor.skipMarks(this.#cursor.skipWords(here + 1, words.linkWords), ':')
  }

  #keyedAt(here: number): number {
    const cursor = this.#cursor
    const pair = pairAt(cursor, here) ?? (this.#mayStandBeside(here) ? besideAt(cursor, here) : undefined)
    if (!pair) return 0
    const { key, value, next } = pair
    if (value === undefined) doubt(this.#draft, key, `I cannot tell the value of ${key}. Put it in quotes.`)
    else if (this.#inProperties) this.#addProperty(key, value)
    else this.#setField(here, key, value)
    return next
  }

  #setField(here: number, key: string, value: unknown): void {
    const { text } = this.#draft
    const lower = key.toLowerCase()
    const whom = targetKeys.get(lower)
    const isName = text.name?.keys.has(lower) === true
    if (lower === 'broadcast' && text.audience === 'many' && typeof value === 'boolean') {
      if (value) this.#draft.everyone = true
    } else if (otherKeys.test(lower) || (lower === 'id' && !isName))
      doubt(this.#draft, key, `I cannot tell what ${key} means here.`)
    else if (isName) setName(this.#draft, String(value))
    else if (whom && text.audience !== 'none') addTarget(this.#draft, targetBy(whom, String(value)))
    else if (text.properties) this.#addProperty(key, value)
    else if (text.content?.keys.has(lower)) this.#setContent(text.content.keys.get(lower)!, String(value))
    else doubt(this.#draft, key, this.#noField(here, key))
  }

  #noField(here: number, key: string): string {
    const listed = this.#cursor.isMark(here - 1, ',') || /^(and|&)$/.test(this.#cursor.word(here - 1) ?? '')
    return this.#draft.text.content?.noField(key, listed) ?? `There is no field ${key} here.`
  }

  #mayStandBeside(here: number): boolean {
    if (!this.#draft.text.properties) return false
    const cursor = this.#cursor
    let before = here - 1
    while (before >= this.#start && /^(a|an|the)$/.test(cursor.word(before) ?? '')) before -= 1
    const word = cursor.word(before) ?? ''
    if (this.#inProperties || words.beforeProperty.has(word)) return true
    return this.#draft.properties.size > 0 && (cursor.isMark(before, ',') || /^(and|plus|&)$/.test(word))
  }

  /** `with id ana` for a user to be created, apart from the noun. For other skills the id may be anything's. */
  #nameAt(here: number): number {
    if (!this.#draft.text.name?.isUserId || this.#cursor.phrase(here, words.idIntros) === 0) return 0
    const found = idAfter(this.#cursor, here)
    if (!found) return 0
    setName(this.#draft, found.value)
    return found.next
  }

  /** "A user named "Ana Lee"" gives a property; the id is still missing. */
  #givenNameAt(here: number): number {
    const { text, name } = this.#draft
    const takes = text.name?.isUserId && text.properties && name === undefined
    const length = takes ? this.#cursor.phrase(here, words.named) : 0
    const place = here + length
    const value = length > 0 && endsValue(this.#cursor, place + 1) ? this.#cursor.value(place) : undefined
    if (value === undefined) return 0
    this.#addProperty('name', value)
    return place + 1
  }

  #targetAt(here: number): number {
    if (this.#draft.text.audience === 'none') return 0
    const cursor = this.#cursor
    const led = words.prepositions.has(cursor.word(here) ?? '')
    const place = led ? cursor.skipMarks(here + 1, ':') : here
    const all = cursor.phrase(place, words.everyone)
    if (all > 0 && (led || cursor.word(place) !== 'all' || all > 1)) {
      this.#draft.everyone = true
      return place + all
    }
    const usual = cursor.phrase(place, words.defaultAudience)
    if (usual > 0) {
      this.#draft.defaultAudience = true
      return place + usual
    }
    const noun = cursor.skipWords(place, words.targetDeterminers)
    const kind = cursor.word(noun) ?? ''
    if (words.userNouns.has(kind)) return this.#idsAfter(noun, userTarget)
    if (words.deviceNouns.has(kind)) return this.#idsAfter(noun, deviceTarget)
    const bare = led && !isTime(cursor, place) ? cursor.value(place) : undefined
    if (bare === undefined) return 0
    if (this.#draft.candidate !== undefined) doubt(this.#draft, bare)
    this.#draft.candidate ??= bare
    return place + 1
  }

  #idsAfter(noun: number, toTarget: (id: string) => Target): number {
    const cursor = this.#cursor
    const first = idAfter(cursor, noun + 1)
    if (!first) {
      this.#draft.bareNouns += 1
      return noun + 1
    }
    addTarget(this.#draft, toTarget(first.value))
    if (!cursor.vocabulary.plurals.has(cursor.word(noun)!)) return first.next
    let place = first.next
    for (let count = 1; ; count += 1) {
      const found = this.#nextOfList(place)
      if (!found) {
        // "users active" is no list of users.
        if (count === 1) doubt(this.#draft, first.value)
        return place
      }
      addTarget(this.#draft, toTarget(found.id))
      place = found.next
    }
  }

  #nextOfList(place: number): { id: string; next: number } | undefined {
    const cursor = this.#cursor
    let next = cursor.skipMarks(place, ',')
    if (cursor.word(next) === 'and' || cursor.word(next) === '&') next += 1
    const isVerb = cursor.vocabulary.verbForms.has(cursor.word(next) ?? '')
    const goesOn = next > place && !cursor.isMark(next + 1, ':') && !isVerb
    const id = goesOn && !this.#endsList(next + 1) ? cursor.value(next) : undefined
    return id === undefined ? undefined : { id, next: next + 1 }
  }

  /** "Users ana, bo and block user cy": `block` has a noun behind it and is no id. */
  #endsList(here: number): boolean {
    const word = this.#cursor.word(this.#cursor.skipWords(here, words.determiners)) ?? ''
    return this.#cursor.vocabulary.endsList.has(word)
  }

  #fillerAt(here: number): number {
    const length = this.#cursor.phrase(here, words.fillers)
    const word = this.#cursor.word(here)
    if (words.unfinished.has(word ?? '')) this.#expected = word
    return length > 0 ? here + length : 0
  }

  /** "Notify user ana that "…"": a quoted text without a name is the main one. */
  #textAt(here: number): number {
    const { content } = this.#draft.text
    const place = this.#cursor.word(here) === 'that' ? here + 1 : here
    const token = this.#cursor.token(place)
    if (!content || token?.kind !== 'quoted') return 0
    if (this.#cursor.token(here - 1)?.kind === 'quoted') return 0
    this.#setContent(content.main, token.text)
    this.#expected = undefined
    return place + 1
  }

  #setContent(field: string, value: string): void {
    const { content, text } = this.#draft
    if (content.has(field)) doubt(this.#draft, value, text.content!.twice(field))
    else if (text.content!.addresses.get(field)?.test(value) === false)
      doubt(this.#draft, value, `The ${field} is not a url.`)
    else if (value.trim() === '') doubt(this.#draft, field, `The ${field} is empty.`)
    else content.set(field, value)
  }

  #addProperty(key: string, value: unknown): void {
    if (this.#draft.properties.has(key)) doubt(this.#draft, key, `${key} is given twice.`)
    else this.#draft.properties.set(key, value)
  }
}

function targetBy(whom: 'user' | 'device' | 'inner', id: string): Target {
  if (whom === 'device') return deviceTarget(id)
  return whom === 'inner' && uuid.test(id) ? { userId: id } : userTarget(id)
}

import { type Run, reach, type Slot } from './pattern.ts'
import { connecting, instructs, notNames } from './words.ts'

/** Letters and digits of any script, and the signs that ids have. */
const plain = /^[\p{L}\p{N}_+][\p{L}\p{M}\p{N}_.@|+:/-]*$/u
/** A sign at the end, a dash or dots: the sentence may go on there. */
const openEnd = /[.@|+:/-]$|--|\.\./
/** Scripts without spaces between words. Beside letters of another one, they may be a word of the sentence. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const isMixed = (text: string) => unspaced.test(text) && /\p{L}/u.test(text.replaceAll(new RegExp(unspaced, 'gu'), ''))
/** A few letters, such as the Hangul filler, are invisible. */
const isPlain = (text: string) =>
  plain.test(text) && !openEnd.test(text) && !isMixed(text) && !/\p{Default_Ignorable_Code_Point}/u.test(text)

const quotesFor = (text: string) => `If ${JSON.stringify(text)} is a name or a value, put it in quotes.`

function refuse(run: Run, at: number, because: string): undefined {
  reach(run, at, because)
}

/** A name or an id: quoted, or one plain word that has no other meaning. `taken` are the words of all forms. */
const nameBy =
  (taken: ReadonlySet<string>): Slot =>
  (run, at) => {
    const token = run.tokens[at]
    if (token?.kind === 'quoted' && token.text.trim() !== '') return { value: token.text, next: at + 1 }
    if (token?.kind !== 'word') return undefined
    if (!isPlain(token.text) || taken.has(token.lower) || notNames.has(token.lower))
      return refuse(run, at, quotesFor(token.text))
    return { value: token.text, next: at + 1 }
  }

const everyone = /^(?:everyone|everybody|all)$/
const onlyCampaigns = 'This takes one user or one device. Everyone is reached by a campaign.'

/** A name that may be a user's or a device's. */
const candidateBy =
  (name: Slot): Slot =>
  (run, at) => {
    const token = run.tokens[at]
    return token?.kind === 'word' && everyone.test(token.lower) ? refuse(run, at, onlyCampaigns) : name(run, at)
  }

const quotedText: Slot = (run, at) => {
  const token = run.tokens[at]
  if (token?.kind === 'word') return refuse(run, at, 'Put texts in quotes.')
  return token?.kind === 'quoted' && token.text.trim() !== '' ? { value: token.text, next: at + 1 } : undefined
}

const address =
  (form: RegExp): Slot =>
  (run, at) => {
    const token = run.tokens[at]
    if (token?.kind !== 'quoted' && token?.kind !== 'word') return undefined
    if (!form.test(token.text)) return refuse(run, at, `${JSON.stringify(token.text)} is no address.`)
    return { value: token.text, next: at + 1 }
  }

const json: Slot = (run, at) => {
  const token = run.tokens[at]
  if (token?.kind !== 'json') return undefined
  const name = Object.keys(token.value).find(instructs)
  if (name !== undefined)
    return refuse(run, at, `If ${JSON.stringify(name)} is the name of a property, send all of it as data.`)
  return { value: token.value, next: at + 1 }
}

/** A number only where the number is written in the same way: 1.10 and 007 are texts. */
function typed(text: string): unknown {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  return /^-?\d/.test(text) && String(Number(text)) === text ? Number(text) : text
}

/** Words for no value. Only quotes make them a text. */
const noValue = /^(?:null|none|nil|undefined|nan|n\/a)$/i

const named = /^[\p{L}_][\p{L}\p{M}\p{N}_.-]{0,127}$/u

/** `name=value`. A colon, or a name beside its value, is as often another sentence: `Warning: mistake`. */
const property: Slot = (run, at) => {
  const [name, sign, value] = run.tokens.slice(at, at + 3)
  if (sign?.kind !== 'mark' || sign.text !== '=') return undefined
  if (name?.kind !== 'quoted' && !(name?.kind === 'word' && named.test(name.text))) return undefined
  if (name.text === '') return undefined
  if (name.kind === 'word' && instructs(name.text))
    return refuse(run, at, `If ${name.text} is the name of a property, put it in quotes.`)
  if (value?.kind === 'quoted') return { value: [name.text, value.text], next: at + 3 }
  if (value?.kind !== 'word') return undefined
  if (!isPlain(value.text.replace(/^-/, '')) || noValue.test(value.text) || connecting.has(value.lower))
    return refuse(run, at + 2, quotesFor(value.text))
  return { value: [name.text, typed(value.text)], next: at + 3 }
}

/** `taken` is filled while the forms are compiled, before anything is read. */
export function createSlots(taken: ReadonlySet<string>): Record<string, Slot> {
  const name = nameBy(taken)
  return {
    projectUserId: name,
    deviceId: name,
    candidate: candidateBy(name),
    eventName: name,
    quotedEventName: quotedText,
    campaignId: name,
    triggerId: name,
    query: name,
    title: quotedText,
    body: quotedText,
    // An image comes from the web; a tap may open a place in the app.
    imageUrl: address(/^https?:\/\/\S+$/i),
    landingUrl: address(/^(?!javascript:|data:)[a-z][a-z\d+.-]*:\/\/\S+$/i),
    json,
    property,
    having: property
  }
}

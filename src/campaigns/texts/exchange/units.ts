import { type Detail, Refusal } from '../../../platform/errors.ts'
import { titleIn } from '../../../templates/templates.ts'
import { type Campaign, everyMessage, type Message } from '../../definition/definition.ts'
import { canonicalTag } from '../language.ts'

const fields = ['title', 'body', 'image_url', 'landing_url'] as const
type Translation = NonNullable<Message['translations']>[string]

/** A text of a message: how its translation is read and changed. */
interface Field {
  name: string
  source: string
  read(translation: Translation): string | undefined
  changed(translation: Translation | undefined, text: string): Translation
}

const fieldsOf = (message: Message): Field[] => [
  ...fields.map((name) => ({
    name,
    source: message[name] ?? '',
    read: (translation: Translation) => translation[name],
    changed: (translation: Translation | undefined, text: string) => ({ ...translation, [name]: text })
  })),
  ...(message.actions ?? []).map(({ id, title }) => ({
    name: `actions.${id}`,
    source: title,
    read: ({ actions }: Translation) => titleIn(actions, id),
    changed: (translation: Translation | undefined, text: string) => ({
      ...translation,
      actions: { ...translation?.actions, [id]: text }
    })
  }))
]

/** One text of a campaign with its translations, as translators see it. */
export interface Unit {
  /** message.title, variants.b.body, steps.first.message.title: the same as long as steps and variants keep their ids. */
  id: string
  /** Of the source; null: the message names none. */
  language: string | null
  source: string
  targets: Map<string, string>
}

interface Place {
  unit: Unit
  message: Message
  field: Field
}

function placesOf(campaign: Campaign): Place[] {
  return everyMessage(campaign).flatMap(({ step, variant, message }) => {
    const prefix = [
      step === undefined ? '' : `steps.${step}.`,
      variant === undefined ? 'message' : `variants.${variant}`
    ]
    return fieldsOf(message).flatMap((field) => {
      const { name, source } = field
      const entries = Object.entries(message.translations ?? {}).flatMap(([tag, texts]) => {
        const text = field.read(texts)
        return text === undefined ? [] : [[tag, text] as const]
      })
      if (source === '' && entries.length === 0) return []
      const unit = { id: `${prefix.join('')}.${name}`, language: message.language ?? null, source }
      return { unit: { ...unit, targets: new Map(entries) }, message, field }
    })
  })
}

/** All texts of a campaign, in the order of the campaign. */
export const unitsOf = (campaign: Campaign): Unit[] => placesOf(campaign).map(({ unit }) => unit)

/** The languages into which texts are translated, and those that a translator asks for. */
export const languagesOf = (units: readonly Unit[], wanted: readonly string[] = []): string[] => [
  ...new Set([...units.flatMap(({ targets }) => [...targets.keys()]), ...wanted])
]

/** A text that came back from a translator. An empty target changes nothing. */
export interface Returned extends Pick<Unit, 'id' | 'source' | 'targets'> {
  /** A file has each of them once. */
  key: string
}

/** Editors change line ends and blanks at the ends of a text, and XML has no control characters. */
const comparable = (text: string) =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .trim()

/**
 * The campaign with the translations that came back, and how many texts are new. Refused as a whole if a source text was
 * changed since: its translation would say something else.
 */
export function withTranslations(campaign: Campaign, returned: readonly Returned[]) {
  const result = structuredClone(campaign)
  const places = new Map(placesOf(result).map((place) => [place.unit.id, place]))
  const set = createSetter()
  const [problems, stale]: [Detail[], Detail[]] = [[], []]
  let changed = 0
  const seen = new Set<string>()
  for (const { key, id, source, targets } of returned) {
    const place = places.get(id)
    if (seen.has(key)) problems.push({ path: id, message: 'is in the file twice' })
    else if (!place) problems.push({ path: id, message: 'is not a text of this campaign' })
    else if (comparable(source) !== comparable(place.unit.source))
      stale.push({ path: id, message: 'was changed since these texts were exported' })
    else for (const [tag, text] of targets) if (text !== '' && set(place, tag, text, problems)) changed += 1
    seen.add(key)
  }
  if (problems.length > 0) throw refuse('invalid_parameter', problems)
  if (stale.length > 0) throw refuse('conflict', stale)
  return { campaign: result, changed }
}

/** Reads each tag once: a campaign has thousands of texts in a hundred languages. */
function createSetter() {
  const canonical = new Map<string, string | undefined>()
  const read = (tag: string) => {
    if (!canonical.has(tag)) canonical.set(tag, canonicalTag(tag))
    return canonical.get(tag)
  }
  /** The translations of each message as they are spelt there, by their canonical tags. */
  const spelt = new Map<Message, Map<string | undefined, string>>()
  const tagsOf = (message: Message) => {
    const tags = spelt.get(message) ?? new Map(Object.keys(message.translations ?? {}).map((tag) => [read(tag), tag]))
    spelt.set(message, tags)
    return tags
  }

  /** Returns whether the translation is new. */
  return ({ unit, message, field }: Place, tag: string, text: string, problems: Detail[]): boolean => {
    const wanted = read(tag)
    if (wanted === undefined || (unit.language !== null && read(unit.language) === wanted)) {
      problems.push({ path: `${unit.id} ${tag}`, message: 'must be in a language other than the default one' })
      return false
    }
    const tags = tagsOf(message)
    const known = tags.get(wanted) ?? wanted
    tags.set(wanted, known)
    message.translations ??= {}
    const before = field.read(message.translations[known] ?? {})
    if (before !== undefined && comparable(before) === comparable(text)) return false
    message.translations[known] = field.changed(message.translations[known], text)
    return true
  }
}

const most = 50

const refuse = (code: 'invalid_parameter' | 'conflict', problems: Detail[]) =>
  new Refusal(code, `${problems[0]!.path}: ${problems[0]!.message}`, problems.slice(0, most))

/** Far longer than any language tag. */
const longestTag = 100

/** Refuses what cannot be a language. It is read beside each of thousands of texts, so that its length counts. */
export function checkTag(tag: string): void {
  if (tag.length > longestTag) throw unreadable(`${tag.slice(0, 20)}… is no language`)
}

/** Refuses a file that cannot be read. */
export const unreadable = (message: string) =>
  new Refusal('invalid_parameter', `The file cannot be read: ${message}.`, [{ path: 'body', message }])

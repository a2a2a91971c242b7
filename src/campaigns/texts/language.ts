/** Languages that are remembered for one message. Devices name a few hundred at most. */
const maxKnown = 1_000

/** The tag in its usual spelling (pt_br is pt-BR, iw is he); undefined if it is none. */
export function canonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-'))[0]
  } catch {
    return undefined
  }
}

/** pt-BR, pt; zh-TW, zh-Hant-TW, zh-Hant, zh: the tag, the tag with its usual script, and shorter ones. */
function candidates(tag: string): string[] {
  const shorter = (whole: string) => {
    const parts = whole.split('-')
    return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
  }
  const { language, script, region } = new Intl.Locale(tag).maximize()
  const [own, likely] = [shorter(tag), shorter([language, script, region].filter(Boolean).join('-'))]
  const language_only = own.pop()!
  return [...own, ...likely.slice(0, -1), language_only]
}

/** The languages of a recipient, as its device and its user name them. */
interface Speaker {
  properties: Readonly<Record<string, unknown>>
  facts: Readonly<Record<string, string | null>>
}

/**
 * Chooses among the languages of a text: the language of the device, else the property `language` of the user, else
 * the default. Each is looked up as in RFC 4647: pt-BR finds pt, and zh-TW finds zh-Hant.
 */
export function languageOf(tags: readonly string[], fallback: string | null): (speaker: Speaker) => string | null {
  const all = new Map<string, string>()
  for (const tag of fallback === null ? tags : [...tags, fallback]) all.set(canonicalTag(tag) ?? tag, tag)
  const known = new Map<string, string | undefined>()
  const find = (wanted: string): string | undefined => {
    if (known.has(wanted)) return known.get(wanted)
    const tag = canonicalTag(wanted)
    const found = tag === undefined ? undefined : candidates(tag).find((one) => all.has(one))
    if (known.size >= maxKnown) known.clear()
    known.set(wanted, found && all.get(found))
    return found && all.get(found)
  }
  return ({ properties, facts }) => {
    const { locale_language: language, locale_region: region } = facts
    const ofDevice = language ? (find(withRegion(language, region)) ?? find(language)) : undefined
    if (ofDevice !== undefined) return ofDevice
    const { language: chosen } = properties
    return (typeof chosen === 'string' && chosen.length <= 64 && find(chosen)) || fallback
  }
}

/** A device reports pt and BR, or both together. */
const withRegion = (language: string, region: string | null | undefined) =>
  region && !/[-_]/.test(language) ? `${language}-${region}` : language

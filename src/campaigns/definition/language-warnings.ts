import type { Message } from './schema.ts'

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** Languages that have a name. Looking one up takes a hundredth of a millisecond, and a message may name thousands. */
const known = new Set<string>()
/** No response shows more warnings. */
const most = 20

/** Warnings about unknown languages: no device has german, which is de. */
export function languageWarnings({ language, translations = {} }: Message, path: string): string[] {
  const warnings: string[] = []
  const add = (place: string, tag: string) => {
    const doubt = doubtOf(tag)
    if (doubt) warnings.push(`${path}.${place} ${doubt}`)
  }
  if (language !== undefined) add('language', language)
  for (const tag of Object.keys(translations)) {
    if (warnings.length >= most) break
    add(`translations.${tag}`, tag)
  }
  return warnings
}

function doubtOf(tag: string): string | undefined {
  const language = tag.toLowerCase().split(/[-_]/)[0]!
  if (known.has(language)) return undefined
  if (nameOf(language) !== undefined) {
    known.add(language)
    return undefined
  }
  const meant = tagNamed(language)
  return `is no known language${meant ? `; did you mean ${meant}?` : ': devices report tags such as en, pt-BR or zh-Hant.'}`
}

/** A tag of private use, x-…, has no language; no language has four letters. */
const nameOf = (language: string) => (/^(?:[a-z]{2,3}|[a-z]{5,8})$/.test(language) ? names.of(language) : '')

const letters = [...'abcdefghijklmnopqrstuvwxyz']
const byName = new Map<string, string>()

/** The tag of two letters for an English name. All are looked up once, which takes milliseconds. */
function tagNamed(name: string): string | undefined {
  if (byName.size === 0)
    for (const tag of letters.flatMap((one) => letters.map((other) => one + other)))
      byName.set((names.of(tag) ?? '').toLowerCase(), Intl.getCanonicalLocales(tag)[0]!)
  return byName.get(name)
}

import { checkTag, type Returned, type Unit, unreadable } from './units.ts'
import { childrenOf, type Element, escaped, parseXml } from './xml.ts'

const namespace = 'urn:oasis:names:tc:xliff:document:1.2'
/** The language of texts that name none (BCP 47). */
const undetermined = 'und'

/** XLIFF 1.2: a file for each language, a unit for each text. A text without a translation has no target. */
export function xliffOf(
  { campaignId, version }: { campaignId: string; version: number },
  units: readonly Unit[],
  languages: readonly string[]
): string {
  const files = languages.flatMap((tag) =>
    [...Map.groupBy(units, ({ language }) => language ?? undetermined)].map(([language, own]) => {
      const head = `original="${escaped(campaignId)}" datatype="plaintext" product-version="${version}"`
      const pair = `source-language="${escaped(language)}" target-language="${escaped(tag)}"`
      return `  <file ${head} ${pair}>\n    <body>\n${own.map((unit) => unitIn(unit, tag)).join('')}    </body>\n  </file>\n`
    })
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="${namespace}">\n${files.join('')}</xliff>\n`
}

function unitIn({ id, source, targets }: Unit, tag: string): string {
  const target = targets.get(tag)
  const translated = target === undefined ? '' : `        <target>${escaped(target)}</target>\n`
  return (
    `      <trans-unit id="${escaped(id)}" xml:space="preserve">\n` +
    `        <source>${escaped(source)}</source>\n${translated}      </trans-unit>\n`
  )
}

/** Reads what a translator returned. `campaignId`: a file of another campaign is refused. */
export function unitsOfXliff(text: string, campaignId: string): Returned[] {
  const root = parseXml(text)
  const version = root.attributes.get('version')
  if (root.name !== 'xliff' || !version?.startsWith('1.')) throw unreadable('it must be XLIFF 1.2')
  const found = childrenOf(root, 'file').flatMap((file) => {
    const original = file.attributes.get('original')
    if (original !== undefined && original !== campaignId)
      throw unreadable(`its texts are those of campaign ${original.slice(0, 100)}`)
    const tag = file.attributes.get('target-language')
    if (tag === undefined) throw unreadable('a file has no target-language')
    checkTag(tag)
    return childrenOf(file, 'body').flatMap((body) => unitsIn(body, tag))
  })
  if (found.length === 0) throw unreadable('it has no trans-unit')
  return found
}

/** The units of a body and of its groups. */
function unitsIn(element: Element, tag: string): Returned[] {
  return element.parts.flatMap((part) => {
    if (typeof part === 'string') return []
    if (part.name === 'group') return unitsIn(part, tag)
    if (part.name !== 'trans-unit') return []
    const [source] = childrenOf(part, 'source')
    const [target] = childrenOf(part, 'target')
    const id = part.attributes.get('id')
    if (id === undefined || !source) throw unreadable('a trans-unit has no id or no source')
    return { key: `${id} ${tag}`, id, source: textOf(source), targets: new Map([[tag, target ? textOf(target) : '']]) }
  })
}

/** Marks of segments and comments hold text. Other elements stand for formats, which these texts do not have. */
function textOf({ parts }: Element): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      if (part.name !== 'mrk') throw unreadable(`the element ${part.name} stands inside a text`)
      return textOf(part)
    })
    .join('')
}

import { unreadable } from './units.ts'

/** An element with its parts in order. Names have no prefix. */
export interface Element {
  name: string
  attributes: Map<string, string>
  parts: (Element | string)[]
}

const mostDepth = 40
const mostElements = 100_000
const mostAttributes = 200_000
/** Each costs a call: as many as these take a tenth of a second. */
const mostReferences = 100_000
const entities = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))

/**
 * Reads XML that cannot do harm: a document type is refused, so there are no entities to expand and no files to read,
 * and depth, elements and references are limited. It reads each character once.
 */
export function parseXml(text: string): Element {
  if (hasMoreThan(mostReferences, '&', text))
    throw unreadable(`it has more than ${mostReferences} references such as &amp;`)
  const root: Element = { name: '', attributes: new Map(), parts: [] }
  const open = [root]
  let at = text.startsWith('\ufeff') ? 1 : 0
  let [elements, attributes] = [0, 0]
  const until = (end: string, from: number) => {
    const found = text.indexOf(end, from)
    if (found < 0) throw unreadable(`it ends before ${end}`)
    return found
  }
  while (at < text.length) {
    const inside = open.at(-1)!
    const next = text.indexOf('<', at)
    const stop = next < 0 ? text.length : next
    if (stop > at) inside.parts.push(decoded(text.slice(at, stop)))
    if (next < 0) break
    if (text.startsWith('<!--', next)) at = until('-->', next + 4) + 3
    else if (text.startsWith('<![CDATA[', next)) {
      const end = until(']]>', next)
      inside.parts.push(text.slice(next + 9, end))
      at = end + 3
    } else if (text.startsWith('<!', next)) throw unreadable('a document type is not allowed')
    else if (text.startsWith('<?', next)) at = until('?>', next) + 2
    else if (text[next + 1] === '/') {
      const end = until('>', next)
      if (open.length === 1 || localName(text.slice(next + 2, end).trim()) !== inside.name)
        throw unreadable('an element is closed that is not open')
      open.pop()
      at = end + 1
    } else {
      const { element, given, end, isEmpty } = tagAt(text, next)
      inside.parts.push(element)
      elements += 1
      if (elements > mostElements) throw unreadable(`it has more than ${mostElements} elements`)
      attributes += given
      if (attributes > mostAttributes) throw unreadable(`it has more than ${mostAttributes} attributes`)
      if (!isEmpty) open.push(element)
      if (open.length > mostDepth) throw unreadable(`its elements are nested deeper than ${mostDepth} levels`)
      at = end
    }
  }
  if (open.length > 1) throw unreadable(`the element ${open.at(-1)!.name} is not closed`)
  const found = root.parts.find((part) => typeof part !== 'string')
  if (!found) throw unreadable('it has no element')
  return found
}

function hasMoreThan(most: number, sign: string, text: string): boolean {
  let count = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    count += 1
    if (count > most) return true
  }
  return false
}

const tag = /<([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g

function tagAt(text: string, at: number) {
  tag.lastIndex = at
  const found = tag.exec(text)
  if (!found) throw unreadable('a tag is not well-formed')
  const [whole, name = '', given = '', slash] = found
  const attributes = new Map<string, string>()
  // The same name may stand there again and again.
  let count = 0
  for (const [, key = '', quoted, single] of given.matchAll(attribute)) {
    attributes.set(key.startsWith('xml:') ? key : localName(key), decoded(quoted ?? single ?? ''))
    count += 1
    if (count > mostAttributes) break
  }
  const element: Element = { name: localName(name), attributes, parts: [] }
  return { element, given: count, end: at + whole.length, isEmpty: slash === '/' }
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

function decoded(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/&(#\d{1,7}|#x[0-9a-fA-F]{1,6}|\w{1,10});?/g, (whole, name: string) => {
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    const character = name.startsWith('#') ? characterOf(code) : entities.get(name)
    if (character === undefined || !whole.endsWith(';')) throw unreadable(`${whole.slice(0, 12)} is not allowed`)
    return character
  })
}

const characterOf = (code: number) =>
  code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined

/** The children of this name. */
export const childrenOf = ({ parts }: Element, name: string): Element[] =>
  parts.flatMap((part) => (typeof part !== 'string' && part.name === name ? part : []))

/** A text for XML; characters that it cannot hold are left out. */
export const escaped = (text: string): string =>
  text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/[&<>"\r]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? '&#13;')

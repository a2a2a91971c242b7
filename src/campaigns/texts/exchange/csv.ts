import { checkTag, type Returned, type Unit, unreadable } from './units.ts'

const mostRows = 10_000
const mostCells = 110

/** A spreadsheet would run a cell that begins like this as a formula. An apostrophe before it is taken off again. */
const formula = /^'*[=+\-@\t\r]/
const guarded = /^'+[=+\-@\t\r]/

function cell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",;\r\n\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const plain = (text: string) => (guarded.test(text) ? text.slice(1) : text)

/** A table with a line for each text, and a column for its source and for each language. */
export function csvOf(units: readonly Unit[], languages: readonly string[]): string {
  const lines = units.map(({ id, source, targets }) => [id, source, ...languages.map((tag) => targets.get(tag) ?? '')])
  // The mark makes spreadsheets read the file as UTF-8.
  return `\ufeff${[['id', 'source', ...languages], ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('')}`
}

export function unitsOfCsv(text: string): Returned[] {
  const [head, ...rows] = tableOf(text)
  if (head?.[0] !== 'id' || head[1] !== 'source') throw unreadable('its first line must begin with id,source')
  const languages = head.slice(2)
  for (const tag of languages) checkTag(tag)
  return rows.flatMap((row) => {
    const [id = '', source = '', ...texts] = row
    if (row.every((one) => one === '')) return []
    // Most rows of a large table are empty in most languages.
    const targets = new Map<string, string>()
    for (const [place, tag] of languages.entries()) if (texts[place]) targets.set(tag, plain(texts[place]))
    return { key: id, id, source: plain(source), targets }
  })
}

/** Reads RFC 4180, with a comma or, as spreadsheets in some countries write it, a semicolon. */
function tableOf(text: string): string[][] {
  const mark = /^[^\r\n]*?([,;\t])/.exec(text)?.[1] ?? ','
  const rows: string[][] = []
  let row: string[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    const { value, end } = text[at] === '"' ? quotedAt(text, at) : bareAt(text, at, mark)
    row.push(value)
    if (row.length > mostCells) throw unreadable(`a line has more than ${mostCells} cells`)
    at = end
    if (text[at] === mark) {
      at += 1
      // A line that ends with a mark ends with an empty cell.
      if (at < text.length && text[at] !== '\r' && text[at] !== '\n') continue
      row.push('')
    }
    if (at < text.length && text[at] !== '\r' && text[at] !== '\n')
      throw unreadable(`a quoted cell in line ${rows.length + 1} is followed by other characters`)
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    rows.push(row)
    row = []
    if (rows.length > mostRows) throw unreadable(`it has more than ${mostRows} lines`)
  }
  return rows
}

function quotedAt(text: string, from: number) {
  let value = ''
  let at = from + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) throw unreadable('a quoted cell does not end')
    value += text.slice(at, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    at = quote + 2
  }
}

function bareAt(text: string, from: number, mark: string) {
  let end = from
  while (end < text.length && text[end] !== mark && text[end] !== '\r' && text[end] !== '\n') end += 1
  return { value: text.slice(from, end), end }
}

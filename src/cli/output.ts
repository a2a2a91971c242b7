import type { Output } from './shell.ts'

export type Cell = string | number | boolean | null | undefined

const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6])/u
const graphemes = new Intl.Segmenter()

const widthOf = (text: string) => {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** Escapes control characters: a name that a user chose must not move the cursor of an operator. */
export const printable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)

const shown = (cell: Cell) => (cell === null || cell === undefined || cell === '' ? '-' : printable(String(cell)))

const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Aligns columns with two spaces between them, the same on a terminal and in a pipe. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [heads.map((head) => head.toUpperCase()), ...rows.map((row) => row.map(shown))]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column]!))))
  return lines
    .map((line) =>
      line
        .map((text, column) => padded(text, widths[column]!))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** One thing with a line for each field. */
export function record(fields: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => widthOf(printable(name))))
  return fields.map(([name, value]) => `${padded(printable(name), width)}  ${shown(value)}`).join('\n')
}

/** Times to the second; --json has the fractions. */
export const time = (at: string | null | undefined): string => (at ? at.replace(/\.\d+Z$/, 'Z') : 'never')

export function shortened(text: string, length: number): string {
  const whole = [...text]
  return whole.length > length ? `${whole.slice(0, length - 1).join('')}…` : text
}

const units = ['B', 'KB', 'MB', 'GB', 'TB']

export function bytes(count: number): string {
  const power = Math.min(units.length - 1, count < 1000 ? 0 : Math.floor(Math.log10(count) / 3))
  const value = count / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

export const amount = (count: number): string => count.toLocaleString('en-US')

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${amount(count)} ${count === 1 ? one : many}`

export const columnsOf = (output: Output): number => output.columns || 80

/** The message of a system error without its code, call and paths. */
export const reason = (error: unknown): string => (error as Error).message.replace(/^[A-Z]+: ([^,]+),.*$/s, '$1')

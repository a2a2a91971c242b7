import { LiquidError } from 'liquidjs'
import { likely } from '../platform/unknown-names.ts'

export const tooLong = 'it takes longer than one rendering may; loop over less'

/** Clearer words for errors of the library. */
const inWords = new Map([
  ['memory alloc limit exceeded', 'it takes more work than one rendering may; loop over less'],
  ['template render limit exceeded', tooLong]
])

/** "line 2, column 7: tag if is not closed", as far as the library knows the position. `filters`: those that there are. */
export function placed(error: unknown, filters: readonly string[]): string {
  const message = (error as Error).message
  if (!LiquidError.is(error)) return message
  const [line, column = 1] = error.token.getPosition()
  const plain = message.split('\n')[0]!.replace(/(?:, file:.*)?, line:\d+, col:\d+$/, '')
  // The library has read the character that it reports here.
  const late = plain === noFilter ? 1 : 0
  const begin = error.token.begin - late
  const advice = inWords.get(plain) ?? adviceOn(plain, error.token.input.slice(begin, begin + 3), filters)
  return `line ${line}, column ${column - late}: ${advice}`
}

const noFilter = 'expected "|" before filter'
const ofBraze = `\${…} is of Braze: write {{ user.first_name }}, or have tidings translate braze rewrite the text`

/** `there`: what stands at the place of the error. */
function adviceOn(plain: string, there: string, filters: readonly string[]): string {
  if (/^(?:invalid value|unexpected|illegal tag)[^$]*\$\{/.test(plain) || /^\.?\$\{/.test(there)) return ofBraze
  if (plain === noFilter) {
    if (there.startsWith('=')) return 'unexpected =: write == to compare'
    if (there.startsWith('&&')) return 'unexpected &&: write and'
  }
  if (plain === 'expected filter name' && there.startsWith('|')) return 'unexpected ||: write or'
  const [, filter] = /^undefined filter: (.*)$/.exec(plain) ?? []
  const meant = filter && likely([...filters], filter)
  return meant ? `${plain} (did you mean "${meant}"?)` : plain
}

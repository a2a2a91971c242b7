import { Tokenizer } from 'liquidjs'

interface Reading {
  input: string
  p: number
  error(message: string, place: number): Error
}

let isRefused = false

/**
 * Refuses a dot without a name after it, as in `{{ user. }}`. The library leaves it out, and an unfinished name
 * would write everything that is stored about the user.
 */
export function refuseBareDots(): void {
  if (isRefused) return
  isRefused = true
  const target = Tokenizer.prototype as unknown as { readProperties(this: Reading, isBegin?: boolean): unknown[] }
  const { readProperties } = target
  target.readProperties = function (isBegin) {
    const begin = this.p
    const read = readProperties.call(this, isBegin)
    let last = this.p - 1
    // Blanks after a dot are read in search of a name.
    while (last >= begin && /\s/.test(this.input[last]!)) last--
    if (last >= begin && this.input[last] === '.') throw this.error('a name must follow the dot', last)
    return read
  }
}

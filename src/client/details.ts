import type { Problem } from './schemas.ts'

type Detail = NonNullable<Problem['details']>[number]

/** A fault as the service writes it: a path that begins with the name of a field or header, and what is wrong there. */
const fault = /^([A-Za-z][\w-]*(?:[.[].*?)?): (.+)$/s

/**
 * The wrong fields that the header X-Service-Error-Detail names: `path: message`, separated by `; `. A part without a
 * path belongs to the message before it. A sentence about the whole request names no field.
 */
export function detailsIn(line: string): Detail[] {
  const found: Detail[] = []
  for (const part of line.split('; ')) {
    const [, path, message] = fault.exec(part) ?? []
    const last = found.at(-1)
    if (path !== undefined && message !== undefined)
      found.push({ path: spelledOut(path), message: spelledOut(message) })
    else if (last) last.message += `; ${spelledOut(part)}`
    else return []
  }
  return found
}

/** The header holds ASCII only, and writes any other character of a name as `\u{e9}`. */
const spelledOut = (text: string): string =>
  text.replace(/\\u\{([\da-f]{1,6})\}/g, (written, digits: string) => {
    const point = Number.parseInt(digits, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : written
  })

/**
 * Reads a text as `JSON.parse` does, for texts in which callers chose names. V8 13.6 (nodejs/node issue 63785) takes a name
 * with an escape for one that an earlier text had in the same place, if that one equals its beginning as written: after
 * `{"a":1,"x\\":2}`, from any project, it reads `{"a":1,"x\"":2}` as the first. So a stand-in without an escape is
 * parsed in place of such a name, and gets its name afterwards.
 */
export function readJson(text: string): unknown {
  // Nearly all texts: the search for one character costs a hundredth of the parsing.
  if (!text.includes('\\')) return JSON.parse(text)
  const names = new Map<string, string>()
  const written = withStandIns(text, names)
  if (names.size === 0) return JSON.parse(text)
  try {
    const root: unknown = JSON.parse(written)
    rename(root, names)
    return root
  } catch {
    // It is not JSON, and the error names the place in the text as it is.
    return JSON.parse(text)
  }
}

/** Puts a stand-in in the place of each name with an escape, and the names by their stand-ins into the map. */
function withStandIns(text: string, names: Map<string, string>): string {
  let mark = '\u{10fffd}'
  while (text.includes(mark)) mark += '\u{10fffd}'
  const parts: string[] = []
  let taken = 0
  for (let end = 0, at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', end)) {
    end = endOfString(text, at)
    if (!isName(text, end)) continue
    const start = text.lastIndexOf('"', at)
    const standIn = `${mark}${names.size}`
    names.set(standIn, text.slice(start, end))
    parts.push(text.slice(taken, start), `"${standIn}"`)
    taken = end
  }
  return parts.join('') + text.slice(taken)
}

/** The end of a string, from one of its escapes on. */
function endOfString(text: string, at: number): number {
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** Whether a colon follows. */
function isName(text: string, at: number): boolean {
  while (at < text.length && ' \n\r\t'.includes(text[at]!)) at += 1
  return text[at] === ':'
}

/** Gives all members with a stand-in their names, in their order. Works level by level: depth cannot exhaust the stack. */
function rename(root: unknown, names: ReadonlyMap<string, string>): void {
  const holders = [root]
  for (const holder of holders) {
    if (typeof holder !== 'object' || holder === null) continue
    const members = Object.entries(holder)
    for (const [, value] of members) holders.push(value)
    if (Array.isArray(holder) || !members.some(([name]) => names.has(name))) continue
    for (const [name] of members) delete (holder as Record<string, unknown>)[name]
    for (const [name, value] of members) {
      const literal = names.get(name)
      setOwn(holder, literal === undefined ? name : JSON.parse(literal), value)
    }
  }
}

/** As `JSON.parse` does: `__proto__` is a name like any other. */
export function setOwn(holder: object, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true })
  else (holder as Record<string, unknown>)[name] = value
}

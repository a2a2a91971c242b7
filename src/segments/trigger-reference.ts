/** One `{{ trigger.a.b }}`: a path into the properties of the trigger. */
export interface Reference {
  path: readonly string[]
}
/** Literal text, or a reference that is replaced by a value of the trigger. */
export type Piece = string | Reference

const step = String.raw`\.[\p{L}\p{N}_-]+|\[(?:[0-9]{1,6}|"[^"]*"|'[^']*')\]`
const reference = new RegExp(String.raw`\{\{\s*trigger((?:${step})+)\s*\}\}`, 'uy')
const steps = new RegExp(step, 'gu')

export const referenceRule = '{{ … }} must be a reference such as {{ trigger.name }}, without filters'

/** Splits a text into pieces; undefined when a `{{` in it is not a reference. */
export function piecesOf(text: string): Piece[] | undefined {
  const pieces: Piece[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open === -1) break
    reference.lastIndex = open
    const found = reference.exec(text)
    if (!found) return undefined
    if (open > at) pieces.push(text.slice(at, open))
    pieces.push({ path: found[1]!.match(steps)!.map(nameOf) })
    at = open + found[0].length
  }
  if (at < text.length || pieces.length === 0) pieces.push(text.slice(at))
  return pieces
}

const nameOf = (written: string) =>
  written.startsWith('.') ? written.slice(1) : written.slice(1, -1).replace(/^["'](.*)["']$/s, '$1')

export const hasReference = (text: string) => piecesOf(text)?.some((piece) => typeof piece !== 'string') ?? false

/** Returns the value at a path, or undefined. JSON has no undefined, so this is never a value. */
export function follow({ path }: Reference, properties: Readonly<Record<string, unknown>>): unknown {
  let value: unknown = properties
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    // A list has only its items: `length` is a name of JavaScript, not of the caller.
    if (!Object.hasOwn(value, name) || (Array.isArray(value) && !/^[0-9]+$/.test(name))) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Returns a value as text; undefined for one that is nested too deeply to be written. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value !== 'object') return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** The size that all values of a segment may have: characters, plus 8 for each entry of a list. */
export class Room {
  private left: number

  constructor(left: number) {
    this.left = left
  }

  /** Takes the room of a value. Returns false if too little is left. */
  take(value: unknown): boolean {
    if (typeof value === 'string') this.left -= value.length
    else if (Array.isArray(value))
      for (const item of value) {
        this.left -= perEntry + (typeof item === 'string' ? item.length : 0)
        if (this.left < 0) break
      }
    return this.left >= 0
  }
}

const perEntry = 8

/**
 * Replaces the references in the value of a condition. A value that is a single reference keeps the type of its target,
 * any other becomes text. Undefined: the trigger lacks a property, or its value needs more room than there is.
 */
export function resolve(value: unknown, properties: Readonly<Record<string, unknown>>, room: Room): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      const found = room.take([undefined]) ? resolve(item, properties, room) : undefined
      if (found === undefined) return undefined
      items.push(found)
    }
    return items
  }
  if (typeof value !== 'string') return value
  const pieces = piecesOf(value) ?? [value]
  const [first] = pieces
  if (pieces.length === 1 && typeof first === 'object') {
    const found = follow(first, properties)
    return room.take(found) ? found : undefined
  }
  let text = ''
  for (const piece of pieces) {
    const found = typeof piece === 'string' ? piece : follow(piece, properties)
    const written = found === undefined ? undefined : textOf(found)
    if (written === undefined || !room.take(written)) return undefined
    text += written
  }
  return text
}

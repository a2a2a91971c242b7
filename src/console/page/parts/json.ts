/** Returns the value of a JSON text, or an error whose message can be shown. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return new Error(`Invalid JSON: ${(error as Error).message}`)
  }
}

/** Like readJson, for texts that must hold an object. */
export function readObject(text: string): Record<string, unknown> | Error {
  const value = readJson(text)
  if (value instanceof Error) return value
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  return new Error('Must be an object: { "name": value }')
}

export const errorText = (value: unknown): string | undefined => (value instanceof Error ? value.message : undefined)

/** Returns the object in a text, or `otherwise` while the text holds none. */
export const objectOr = <Otherwise>(text: string, otherwise: Otherwise): Record<string, unknown> | Otherwise => {
  const value = readObject(text)
  return value instanceof Error ? otherwise : value
}

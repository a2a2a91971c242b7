/** A value of OTLP in JSON. */
const encoded = (value: unknown): object => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  // Whole numbers are texts in OTLP, because JSON has no 64-bit integers.
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { stringValue: JSON.stringify(value) ?? '' }
}

export const attributeList = (attributes: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : { key, value: encoded(value) }))

/** Milliseconds as the text of nanoseconds: a number of JSON would be rounded. */
export const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n)

/** The two-sided 95 % quantile of the normal distribution. */
const z = 1.959964

/**
 * The interval in which a rate lies with 95 % certainty, by Wilson's score: it stays sensible for few cases and for
 * rates near none or all. Undefined without cases.
 */
export function wilson(hits: number, cases: number): [low: number, high: number] | undefined {
  if (cases <= 0) return undefined
  const rate = Math.min(1, Math.max(0, hits / cases))
  const spread = z * Math.sqrt((rate * (1 - rate)) / cases + (z * z) / (4 * cases * cases))
  const [middle, scale] = [rate + (z * z) / (2 * cases), 1 + (z * z) / cases]
  return [Math.max(0, (middle - spread) / scale), Math.min(1, (middle + spread) / scale)]
}

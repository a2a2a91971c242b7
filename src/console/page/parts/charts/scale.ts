/** The round number at or above a count, at which an axis ends: 1, 2, 5, 10, 20, 50 and so on. */
export function roundUp(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return [1, 2, 5, 10].map((times) => times * unit).find((round) => round >= most)!
}

/** The numbers at an axis, the largest first. Counts are whole, so an axis that ends with 1 has no middle. */
export const ticksOf = (top: number): number[] => (Number.isInteger(top / 2) ? [top, top / 2, 0] : [top, 0])

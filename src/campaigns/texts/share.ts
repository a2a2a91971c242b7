/** FNV-1a over the characters of a text, from a state that an earlier text left. */
function mixed(state: number, text: string): number {
  let hash = state
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}

/** Spreads the bits (the last step of MurmurHash3): FNV alone leaves similar ids close to each other. */
function spread(hash: number): number {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** Places each user between 0 and 1, evenly, and for one campaign and purpose always at the same place. */
export function placing(purpose: 'holdout' | 'variant', campaignId: string): (userId: string) => number {
  // Two purposes are independent, so that a holdout takes the same share of each variant.
  const state = mixed(0x811c9dc5, `${purpose} ${campaignId} `)
  return (userId) => spread(mixed(state, userId)) / 2 ** 32
}

/** Whether a user belongs to the holdout of a campaign. Undefined if it has none. */
export function holdoutOf(campaignId: string, percent: number | undefined): ((userId: string) => boolean) | undefined {
  if (!percent) return undefined
  const place = placing('holdout', campaignId)
  return (userId) => place(userId) < percent / 100
}

interface Weighted {
  id: string
  weight: number
}

/** The variant of each user: the same in every version in which ids and weights are the same, in any order. */
export function variantOf<Variant extends Weighted>(
  campaignId: string,
  variants: readonly Variant[]
): (userId: string) => Variant {
  const place = placing('variant', campaignId)
  const sorted = variants.toSorted((one, two) => (one.id < two.id ? -1 : 1))
  const all = sorted.reduce((sum, { weight }) => sum + weight, 0)
  const last = sorted.findLast(({ weight }) => weight > 0) ?? sorted.at(-1)!
  return (userId) => {
    let left = place(userId) * all
    for (const variant of sorted) {
      left -= variant.weight
      if (left < 0) return variant
    }
    return last
  }
}

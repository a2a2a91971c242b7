/** A line of the palette. It leads to a page of the console, to a page of the docs, or does something. */
export interface Entry {
  group: 'Actions' | 'Pages' | 'Users' | 'Campaigns' | 'Segments' | 'Topics' | 'By ID' | 'Projects' | 'Docs'
  label: string
  /** More words by which it is found, shown beside the label. */
  hint?: string
  to?: string
  href?: string
  act?: () => unknown
}

/** How many lines of each group are shown. */
const mostOfGroup = 6

/** How well a text fits to what was typed: 0 is best; undefined: not at all. */
function rank(text: string, typed: string): number | undefined {
  const at = text.toLowerCase().indexOf(typed)
  if (at === 0) return text.length === typed.length ? 0 : 1
  if (at < 0) return undefined
  return /[\s\-_./]/.test(text[at - 1]!) ? 2 : 3
}

/** The entries that hold every typed word, the best first, with a few of each group. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = entries.flatMap((entry) => {
    const ranks = words.map(
      (word) => rank(entry.label, word) ?? (rank(entry.hint ?? '', word) !== undefined ? 4 : undefined)
    )
    return ranks.includes(undefined) ? [] : [{ entry, rank: Math.max(0, ...(ranks as number[])) }]
  })
  const groups = Map.groupBy(
    ranked.sort((one, other) => one.rank - other.rank),
    ({ entry }) => entry.group
  )
  return [...groups.values()].flatMap((group) => group.slice(0, mostOfGroup).map(({ entry }) => entry))
}

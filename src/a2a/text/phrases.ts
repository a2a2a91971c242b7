export type Words = ReadonlySet<string>
export type Phrases = readonly (readonly string[])[]

/** Words, separated by white space. */
export const words = (text: string): Words => new Set(text.split(/\s+/).filter(Boolean))

/** Phrases, separated by `|`. The longest comes first, because the longest that fits is the one that is meant. */
export const phrases = (text: string): Phrases =>
  text
    .split('|')
    .map((phrase) => phrase.trim().split(/\s+/))
    .sort((one, other) => other.length - one.length)

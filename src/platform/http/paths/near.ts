import { likely } from '../../unknown-names.ts'

/** A path as the router knows it, such as `/api/v1/campaigns/:campaign_id::trigger`. */
export type Pattern = string

/** What hints are found by. It is made once: callers without a key ask for unknown paths too, and there are hundreds of patterns. */
export interface Landmarks {
  /** The actions of all paths, such as `trigger`. */
  actions: string[]
  /** The parts of the patterns, by how many there are. A parameter starts with a colon; that of an action is a line end. */
  parts: Map<number, string[][]>
}

export function landmarksOf(patterns: Pattern[]): Landmarks {
  const actions = new Set(patterns.flatMap((pattern) => /::([a-z-]+)$/.exec(pattern)?.[1] ?? []))
  const split = patterns.map((pattern) => pattern.replaceAll('::', '\n').split('/'))
  return { actions: [...actions].sort(), parts: Map.groupBy(split, ({ length }) => length) }
}

/** A header repeats the path, and clients take 16 KiB of headers at most. */
const longest = 200

/** How a path is routed: as one with an action at its end, as another one, or not at all. */
type RoutedAs = (path: string) => 'action' | 'other' | undefined

/**
 * A sentence that names the route which the caller of an unknown path, or of an unknown action of a path, probably means.
 * Undefined: no route resembles it.
 */
export function hintOf(landmarks: Landmarks, path: string, routed: RoutedAs): string | undefined {
  if (path.length > longest) return undefined
  const colon = path.lastIndexOf(':')
  const [before, word] = [path.slice(0, colon), path.slice(colon + 1)]
  const hasAction = colon > path.lastIndexOf('/')
  const actions = hasAction ? landmarks.actions.filter((name) => routed(`${before}:${name}`) === 'action') : []
  if (actions.includes(word)) return undefined
  if (actions.length > 0) {
    const meant = likely(actions, word)
    if (meant) return `Did you mean ${before}:${meant}?`
    return `There is no ":${word}" here, but ${actions.map((name) => `":${name}"`).join(', ')}.`
  }
  if (routed(path)) return undefined
  const near = routed(`/api${path}`) ? `/api${path}` : nearest(landmarks, path, routed)
  return near && `Did you mean ${near}?`
}

/** The path with the one part that differs from a route by a letter replaced by that of the route. */
function nearest({ parts: known }: Landmarks, path: string, routed: RoutedAs): string | undefined {
  const parts = path.split('/')
  for (const theirs of known.get(parts.length) ?? []) {
    const place = onlyDifference(theirs, parts)
    if (place === undefined) continue
    const meant = theirs[place]!.replace('\n', ':')
    if (meant.startsWith(':') || !likely([meant], parts[place]!)) continue
    // A parameter takes any text here; the router also wants the action after it.
    const near = parts.with(place, meant).join('/')
    if (routed(near)) return near
  }
  return undefined
}

/** The place of the one part that differs; undefined if none or several do. */
function onlyDifference(theirs: string[], parts: string[]): number | undefined {
  let found: number | undefined
  for (const [place, their] of theirs.entries()) {
    if (matches(their, parts[place]!)) continue
    if (found !== undefined) return undefined
    found = place
  }
  return found
}

const matches = (their: string, part: string) =>
  their.startsWith(':') ? part !== '' : their.replace('\n', ':') === part

import { likely } from '../../unknown-names.ts'

/** A path as the router knows it, such as `/api/v1/campaigns/:campaign_id::trigger`. */
export type Pattern = string

/** A header repeats the path, and clients take 16 KiB of headers at most. */
const longest = 200

/** How a path is routed: as one with an action at its end, as another one, or not at all. */
type RoutedAs = (path: string) => 'action' | 'other' | undefined

/**
 * A sentence that names the route which the caller of an unknown path, or of an unknown action of a path, probably means.
 * Undefined: no route resembles it.
 */
export function hintOf(patterns: Pattern[], path: string, routed: RoutedAs): string | undefined {
  if (path.length > longest) return undefined
  const colon = path.lastIndexOf(':')
  const [before, word] = [path.slice(0, colon), path.slice(colon + 1)]
  const actions = colon > path.lastIndexOf('/') ? actionsOf(patterns, before, routed) : []
  if (actions.includes(word)) return undefined
  if (actions.length > 0) {
    const meant = likely(actions, word)
    if (meant) return `Did you mean ${before}:${meant}?`
    return `There is no ":${word}" here, but ${actions.map((name) => `":${name}"`).join(', ')}.`
  }
  if (routed(path)) return undefined
  const near = routed(`/api${path}`) ? `/api${path}` : nearest(patterns, path)
  return near && `Did you mean ${near}?`
}

function actionsOf(patterns: Pattern[], before: string, routed: RoutedAs): string[] {
  const names = new Set(patterns.flatMap((pattern) => /::([a-z-]+)$/.exec(pattern)?.[1] ?? []))
  return [...names].filter((name) => routed(`${before}:${name}`) === 'action').sort()
}

/** The path with the one part that differs from a route by a letter replaced by that of the route. */
function nearest(patterns: Pattern[], path: string): string | undefined {
  const parts = path.split('/')
  for (const pattern of patterns) {
    const theirs = pattern.replaceAll('::', '\n').split('/')
    if (theirs.length !== parts.length) continue
    const different = theirs.flatMap((their, place) => (matches(their, parts[place]!) ? [] : [place]))
    const [place] = different
    if (place === undefined || different.length > 1) continue
    const meant = theirs[place]!.replace('\n', ':')
    if (!meant.startsWith(':') && likely([meant], parts[place]!)) return parts.with(place, meant).join('/')
  }
  return undefined
}

const matches = (their: string, part: string) =>
  their.startsWith(':') ? part !== '' : their.replace('\n', ':') === part

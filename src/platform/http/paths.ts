import type { IncomingMessage } from 'node:http'
import findMyWay, { type HTTPMethod } from 'find-my-way'

/** Longer than any header Node accepts: an id is judged by our rules, not by the router's. */
export const maxParamLength = 65_536

const broken = Symbol('broken escape')
type Marked = IncomingMessage & { [broken]?: true }

/**
 * A path with a broken escape would be refused by the router before anyone is authenticated. It is routed with its
 * percent signs escaped, and marked, so that its route can refuse it in turn.
 */
export function rewriteUrl(request: IncomingMessage): string {
  const url = request.url ?? '/'
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    ;(request as Marked)[broken] = true
    return path.replaceAll('%', '%25') + (end < 0 ? '' : url.slice(end))
  }
}

export const hasBrokenEscape = (request: IncomingMessage): boolean => (request as Marked)[broken] === true

/** Knows which methods a path has, by the same router that Fastify uses: for 405 and its Allow header. */
export function createMethodTable() {
  const router = findMyWay({ maxParamLength })
  const methods = new Map<string, Set<string>>()
  return {
    add(path: string, method: string): void {
      const known = methods.get(path)
      if (known) return void known.add(method)
      const allowed = new Set([method])
      methods.set(path, allowed)
      router.on('GET' as HTTPMethod, path, () => {}, allowed)
    },
    /** The methods of a path, or undefined where nothing lives. */
    allowed(url: string): string[] | undefined {
      const found = router.find('GET', url.split('?')[0]!)
      return found ? [...(found.store as Set<string>)].sort() : undefined
    }
  }
}

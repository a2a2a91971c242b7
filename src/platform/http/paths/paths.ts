import type { IncomingMessage } from 'node:http'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { hintOf, type Landmarks, landmarksOf } from './near.ts'

/** Longer than any header that Node accepts, so that our own rules judge an id, and not the router's. */
export const maxParamLength = 65_536

const broken = Symbol('broken escape')
type Marked = IncomingMessage & { [broken]?: true }

/**
 * The router would refuse a path with a broken escape before the caller is authenticated. Such a path is routed with
 * its percent signs escaped, and marked, so that its route can refuse it.
 */
export const rewriteUrl =
  (methods: MethodTable) =>
  (request: IncomingMessage): string => {
    const { url = '/', method = '' } = request
    if (!url.includes('%')) return url
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    const query = end < 0 ? '' : url.slice(end)
    if (!isBroken(path)) return methods.withVerb(method, path, '%3A') + query
    ;(request as Marked)[broken] = true
    return methods.withVerb(method, path.replaceAll('%', '%25'), '%253A') + query
  }

function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path)
    return false
  } catch {
    return true
  }
}

export const hasBrokenEscape = (request: IncomingMessage): boolean => (request as Marked)[broken] === true

interface Known {
  methods: Set<string>
  /** Whether the path ends in a verb: `:cancel`. */
  verb: boolean
}

type Router = ReturnType<typeof findMyWay>

interface Routers {
  /** Finds a path whatever its method is. */
  all: Router
  byMethod: Router
  landmarks: Landmarks
}

function makeRouters(paths: ReadonlyMap<string, Known>): Routers {
  const [all, byMethod] = [findMyWay({ maxParamLength }), findMyWay({ maxParamLength })]
  for (const [path, known] of paths) {
    all.on('GET', path, () => {}, known)
    for (const method of known.methods) byMethod.on(method as HTTPMethod, path, () => {})
  }
  return { all, byMethod, landmarks: landmarksOf([...paths.keys()]) }
}

export type MethodTable = ReturnType<typeof createMethodTable>

/** Knows the methods of a path, through the same router that Fastify uses: for 405 and its Allow header. */
export function createMethodTable() {
  const paths = new Map<string, Known>()
  let routers: Routers | undefined
  // Made when they are first needed: few requests do, and making them is a fifteenth of a start.
  const made = () => {
    routers ??= makeRouters(paths)
    return routers
  }
  const find = (path: string) => made().all.find('GET', path)?.store as Known | undefined
  return {
    add(path: string, method: string): void {
      routers = undefined
      const known = paths.get(path)
      if (known) known.methods.add(method)
      else paths.set(path, { methods: new Set([method]), verb: /::[a-z-]+$/.test(path) })
    },
    /** The methods of a path; undefined if no route matches. */
    allowed(url: string): string[] | undefined {
      const found = find(url.split('?')[0]!)
      return found && [...found.methods].sort()
    },
    /** What the caller of a path without a route, or without a route for its method, probably means. */
    hint(url: string): string | undefined {
      const path = url.split('?')[0]!
      return hintOf(made().landmarks, path, (one) => {
        const found = find(one)
        return found && (found.verb ? 'action' : 'other')
      })
    },
    /**
     * Contract B.9: an escaped colon before a verb counts as a colon, since some clients escape every colon of a path.
     * A path that its method already matches is left unchanged, so that `GET …/campaigns/x%3Atest` still reads the id
     * `x:test`.
     */
    withVerb(method: string, path: string, colon: string): string {
      const at = path.toUpperCase().lastIndexOf(colon)
      if (at < 0 || !/^[a-z-]+$/.test(path.slice(at + colon.length))) return path
      if (made().byMethod.find(method as HTTPMethod, path)) return path
      const plain = `${path.slice(0, at)}:${path.slice(at + colon.length)}`
      return find(plain)?.verb ? plain : path
    },
    /**
     * For a method that takes ids, the router reads `…/x:cancel` as an id. It is still the verb, with a wrong method:
     * an id that ends like a verb must be sent with its colon escaped.
     */
    isVerbOfOthers(method: string, url: string): boolean {
      if (!url.includes(':')) return false
      const path = url.split('?')[0]!
      if (path.lastIndexOf(':') < path.lastIndexOf('/')) return false
      const found = find(path)
      return found?.verb === true && !found.methods.has(method)
    }
  }
}

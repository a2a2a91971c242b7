// Finds the route of a path of the usual form. Fastify has every route too, and gets every other path.

export interface Found<Route> {
  route: Route
  params: Readonly<Record<string, string>>
}

/** A path with one parameter, and the literal text around it. */
interface Pattern<Route> {
  before: string
  after: string
  name: string
  route: Route
}

const none = Object.freeze({})
/** As Fastify writes it: `/a/:name(expression)::verb`, where two colons are a literal one. */
const oneParameter = /^([^:]*):(\w+)(?:\(.*\))?((?:::|[^:])*)$/
/** Letters that mean nothing in a path and are never escaped. */
const usual = /^[\w-]{1,64}$/

export function pathTable<Route>() {
  const exact = new Map<string, Found<Route>>()
  const patterns = new Map<string, Pattern<Route>[]>()

  function add(method: string, url: string, route: Route): void {
    if (!url.includes(':')) {
      exact.set(`${method} ${url}`, { route, params: none })
      return
    }
    const [, before, name, after] = oneParameter.exec(url) ?? []
    if (before === undefined || name === undefined || after === undefined)
      throw new Error(`${url}: a direct route has at most one parameter`)
    const pattern = { before, after: after.replaceAll('::', ':'), name, route }
    patterns.set(method, [...(patterns.get(method) ?? []), pattern])
  }

  function find(method: string, path: string): Found<Route> | undefined {
    const found = exact.get(`${method} ${path}`)
    if (found) return found
    for (const { before, after, name, route } of patterns.get(method) ?? []) {
      if (!path.startsWith(before) || !path.endsWith(after)) continue
      const value = path.slice(before.length, path.length - after.length)
      if (usual.test(value)) return { route, params: { [name]: value } }
    }
    return undefined
  }

  return { add, find }
}

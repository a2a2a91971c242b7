import { METHODS } from 'node:http'
import type { OpenApi, Operation } from '../../../src/platform/http/openapi/openapi.ts'
import { rawSegments, strings } from '../hostile.ts'
import { agentCall, bodyFrom, hostile, mcpCall } from './bodies.ts'
import type { Chance } from './chance.ts'
import { addHeaders, broken } from './headers.ts'
import type { WireRequest } from './wire.ts'
import type { Caller, Headers, Known, World } from './world.ts'

export interface WildRequest extends WireRequest {
  /** The route that it is meant for. */
  route: Route
  caller: Caller
  method: string
}

/** A registered route, with what its documentation says. */
export interface Route {
  method: string
  url: string
  operation: Operation | undefined
}

/** The registered routes, each with its operation of /openapi-complete.json. */
export function routesOf(registered: string[], { paths }: OpenApi): Route[] {
  const documented = new Map<string, Operation>()
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      documented.set(`${method.toUpperCase()} ${path}`, operation)
  return registered.map((one) => {
    const [method, url] = one.split(' ') as [string, string]
    const template = url.replace(parts, (part, name?: string) => (name ? `{${name}}` : part === '::' ? ':' : part))
    const short = template.replace(/^\/manage\/v1\/projects\/\{project_id\}(?=\/(api\/v1|a2a))/, '').replace(/\/$/, '')
    const asGet = method === 'HEAD' ? 'GET' : method
    return { method, url, operation: documented.get(`${asGet} ${template}`) ?? documented.get(`${asGet} ${short}`) }
  })
}

/** The parts of a route's address: an escaped colon, a parameter with or without a pattern, or any rest. */
const parts = /::|:(\w+)(?:\([^)]*\))?|\*/g

const wellFormed = strings
  .filter((text) => text !== '' && text.length <= 800 && text.isWellFormed())
  .map(encodeURIComponent)
const usual = [...new Set(METHODS)].filter((name) => name !== 'CONNECT')
const rests = [
  '',
  'index.html',
  'users',
  '../package.json',
  '..%2f..%2fetc%2fpasswd',
  'assets/x.js',
  '%00',
  'a/b/c',
  'README'
]

/** Documents of hundreds of kilobytes, which are the same for every request: they would take most of the time. */
const pages = /^\/(metrics|openapi|docs|llms|sdk|console$|console\/\*)/
const isPage = ({ method, url }: Route) => (method === 'GET' || method === 'HEAD') && pages.test(url)

/** Makes requests for the routes; the world may be replaced by a fresh one at any time. */
export function requestMaker(routes: Route[], hidden: Known, chance: Chance) {
  function param(name: string, route: Route, caller: Caller, { known, projectId }: World): string {
    if (name === 'project_id') {
      const spare = chance.pick(known.get('spare_project_id') ?? [projectId])
      // Calls that change how a project works would end all others.
      const changes = /projects\/:project_id(\(\[\^:\]\+\)::\w+)?$|simulator\/faults/.test(route.url)
      if (changes && !['GET', 'HEAD'].includes(route.method)) return spare
      return chance.branch(
        [80, () => projectId],
        [10, () => (caller.everywhere ? spare : chance.pick(hidden.get(name)!))],
        [5, () => chance.pick(wellFormed)],
        [2, () => chance.pick(rawSegments)]
      )
    }
    return chance.branch(
      [70, () => encodeURIComponent(chance.pick(known.get(name) ?? ['x']))],
      [8, () => encodeURIComponent(chance.pick(hidden.get(name) ?? ['x']))],
      [14, () => chance.pick(wellFormed)],
      [8, () => chance.pick(rawSegments)]
    )
  }

  function pathOf(route: Route, caller: Caller, world: World): string {
    return route.url.replace(parts, (part, name?: string) => {
      if (name) return param(name, route, caller, world)
      if (part === '*') return chance.pick(rests)
      return chance.percent(95) ? ':' : '%3A'
    })
  }

  function queryOf({ operation }: Route, { known }: World): string {
    const declared = (operation?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
    if (!chance.percent(declared.length > 0 ? 60 : 10)) return ''
    const pairs = Array.from({ length: 1 + chance.below(3) }, () => {
      const name =
        chance.percent(90) && declared.length > 0
          ? chance.pick(declared)
          : chance.pick(['__proto__', 'x[]', 'limit', ''])
      const value = chance.branch<unknown>(
        [4, () => chance.pick(known.get(name) ?? ['10'])],
        [
          2,
          () =>
            chance.pick(['0', '-1', '201', '1e3', '9'.repeat(30), 'null', 'true', 'W10', 'WyJcdTAwMDAiXQ', '7d', 'csv'])
        ],
        [3, () => hostile(chance)]
      )
      const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 2_000)
      return `${encodeURIComponent(name)}=${text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80'}`
    })
    return `?${pairs.join(chance.percent(95) ? '&' : '&&;')}`
  }

  function callerOf({ url }: Route, { callers, strangers }: World): Caller {
    if (chance.percent(12)) return chance.pick([...strangers, ...Object.values(callers)])
    if (url.startsWith('/api/')) return chance.percent(75) ? callers.secret : callers.public
    if (/^\/(a2a|mcp|\.well)/.test(url)) return callers.agent
    if (!url.startsWith('/manage')) return chance.pick([callers.member, strangers[0]!])
    if (!url.includes(':project_id')) return chance.pick([callers.admin, callers.admin, callers.member])
    return chance.pick([callers.projectAdmin, callers.projectAdmin, callers.member, callers.admin, callers.viewer])
  }

  function bodyOf(route: Route, { known }: World): Buffer | undefined {
    const content = Object.values(route.operation?.requestBody?.content ?? {})[0]
    const example = /\/a2a\/?$/.test(route.url)
      ? agentCall(known, chance)
      : route.url.endsWith('/mcp')
        ? mcpCall(known, chance)
        : content?.example
    if (example === undefined) return chance.percent(10) ? bodyFrom({ a: 1 }, known, chance) : undefined
    return chance.percent(95) ? bodyFrom(example, known, chance) : undefined
  }

  function headersOf(route: Route, caller: Caller): Headers {
    const [type = 'application/json'] = Object.keys(route.operation?.requestBody?.content ?? {})
    const agents = /\/(a2a|mcp)\/?$/.test(route.url)
    return {
      host: 'localhost',
      ...caller.headers,
      'content-type': type,
      ...(agents && { accept: 'application/json, text/event-stream' }),
      ...(agents && chance.percent(50) && { 'a2a-version': chance.pick(['1.0', '0.3', '9.9']) }),
      ...(chance.percent(15) && { 'idempotency-key': `key-${chance.below(20)}` })
    }
  }

  const others = routes.filter((route) => !isPage(route))

  return function next(world: World): WildRequest {
    const any = chance.pick(routes)
    const route = isPage(any) && chance.percent(80) ? chance.pick(others) : any
    const caller = callerOf(route, world)
    const method = chance.percent(92) ? route.method : chance.pick(usual)
    const path = pathOf(route, caller, world) + queryOf(route, world)
    const body = bodyOf(route, world)
    const request = { method, path, headers: headersOf(route, caller), body }
    const wire = chance.percent(3) ? broken(request, chance) : addHeaders(request, chance)
    return { ...wire, route, caller, method }
  }
}

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Cookies } from './cookies.ts'
import type { ApiCaller, Credentials, KnownKey, KnownSession } from './credentials.ts'
import { hashTextOf, isPossible, prefixes, type Role } from './keys.ts'
import { actorOf, atLeast, highestRole, type Principal, principalOf, reachOf, roleIn } from './principal.ts'
import { isProjectId, noSuchProject, type Project } from './project.ts'
import type { Allowance, RateLimits } from './rate-limits/rate-limit.ts'

/**
 * The keys that open a route: `secret` keys only, or also those in `client` apps. A `trigger` has an additional limit.
 */
export type ApiAccess = 'secret' | 'client' | 'trigger'

export interface ManageCaller {
  /** The token or the member that calls. */
  principal: Principal
  /** The browser session of the call; absent for a bearer token. */
  session?: KnownSession
  actor: string
  /** The project of the path, if the path names one. */
  project: Project | undefined
  /** The projects in which the caller has at least this role; null: the whole installation. */
  reach(least: Role): ProjectId[] | null
}

/**
 * The lowest role that opens a management route: in the project of the path; without one, in any project. `installation`
 * is the role admin in the whole installation.
 */
export type ManageAccess = Role | 'installation'

const callerLimit = 1_000

interface Known {
  principal: Principal
  session?: KnownSession
}

/** The same refusal for every cause, so that it reveals nothing: unknown project, wrong key, another project's key, a public key. */
const invalidKey = () => new Refusal('invalid_api_key', 'Invalid API key')

/**
 * The same bytes for a public key that is valid for this project; only the header X-Service-Error-Detail gives the
 * reason. The key is public, so this reveals nothing to a guesser.
 */
const publicKey = () =>
  new Refusal('invalid_api_key', 'Invalid API key', [
    { path: 'X-Service-API-Key', message: 'a public key was given; this endpoint needs a secret key' }
  ])

/** The prefix alone shows it, so this reveals nothing about tokens. */
const managementToken = (path: string, callers: string) =>
  new Refusal('invalid_api_key', 'Invalid API key', [
    { path, message: `a management token was given; ${callers} send a secret key, which starts with svc_sk_` }
  ])

const missingProject = () =>
  new Refusal('missing_project_id', 'Missing project id', [{ path: 'X-Service-Project-ID', message: 'must be given' }])

/** `others`: headers that have the key elsewhere. */
const missingKey = (request: FastifyRequest, path: string, rule: string, others: string[]) => {
  const given = others.find((name) => header(request, name.toLowerCase()))
  return new Refusal('missing_api_key', 'Missing API key', [
    { path, message: given ? `${rule}; ${given} is not read here` : rule }
  ])
}

const unknownToken = (text: string) =>
  new Refusal(
    'invalid_token',
    text.startsWith(prefixes.secret)
      ? 'A secret key was given; /manage needs a management token, which starts with svc_at_.'
      : 'The management token is unknown or revoked.'
  )

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(credentials: Credentials, cookies: Cookies, limits: RateLimits) {
  function byKey(
    request: FastifyRequest,
    reply: FastifyReply,
    access: ApiAccess = 'secret'
  ): ApiCaller | Promise<ApiCaller> {
    const projectId = header(request, 'x-service-project-id')
    if (!projectId) throw missingProject()
    const text = header(request, 'x-service-api-key')
    if (!text) throw missingKey(request, 'X-Service-API-Key', 'must be given', ['Authorization', 'X-API-Key'])
    if (text.startsWith(prefixes.token)) throw managementToken('X-Service-API-Key', 'callers of /api/v1')
    const admit = (key: KnownKey | undefined): ApiCaller | Promise<ApiCaller> => {
      if (!key || key.caller.project.id !== projectId) throw invalidKey()
      if (access !== 'client' && key.kind !== 'secret') throw publicKey()
      const kind = key.kind === 'secret' ? 'requests_per_second' : 'client_requests_per_second'
      const { caller } = key
      const spent = spend(reply, limits, caller.project, kind)
      if (access !== 'trigger') return after(spent, () => caller)
      return after(spent, () => after(spendTrigger(reply, limits, caller.project), () => caller))
    }
    const possible = isPossible(text, 'secret') || isPossible(text, 'public')
    const key = possible ? credentials.key(hashOnce(request.raw.socket, text), request) : undefined
    return key instanceof Promise ? key.then(admit) : admit(key)
  }

  /**
   * Agents authenticate with a secret key alone, which identifies its project, as X-API-Key or as a bearer token. A key
   * for browsers is refused before it is looked up.
   */
  function byAgentKey(request: FastifyRequest, reply: FastifyReply): ApiCaller | Promise<ApiCaller> {
    const given = header(request, 'x-api-key')
    const text = agentKeyOf(request)
    if (!text) throw missingKey(request, 'X-API-Key', 'must be given, or Authorization: Bearer', ['X-Service-API-Key'])
    if (text.startsWith(prefixes.public)) throw new Refusal('secret_key_required', 'A secret key is required')
    if (text.startsWith(prefixes.token)) throw managementToken(given ? 'X-API-Key' : 'Authorization', 'agents')
    const admit = (key: KnownKey | undefined): ApiCaller | Promise<ApiCaller> => {
      if (key?.kind !== 'secret') throw invalidKey()
      return after(spend(reply, limits, key.caller.project, 'requests_per_second'), () => key.caller)
    }
    const possible = isPossible(text, 'secret')
    const key = possible ? credentials.key(hashOnce(request.raw.socket, text), request) : undefined
    return key instanceof Promise ? key.then(admit) : admit(key)
  }

  /** Analytics SDKs authenticate with a public key alone. A secret key has no place in them, and counts as wrong. */
  async function withWriteKey(text: unknown, request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller> {
    if (typeof text !== 'string' || text === '') throw new Refusal('missing_api_key', 'Missing write key')
    const key = isPossible(text, 'public')
      ? await credentials.key(hashOnce(request.raw.socket, text), request)
      : undefined
    if (key?.kind !== 'public') throw invalidKey()
    await spend(reply, limits, key.caller.project, 'client_requests_per_second')
    return key.caller
  }

  async function knownCaller(request: FastifyRequest): Promise<Known> {
    const text = bearerOf(request)
    const session = text ? undefined : cookies.sessionOf(request)
    if (session) return signedIn(request, session)
    if (!text) throw new Refusal('missing_token', 'Send a management token as Authorization: Bearer <token>.')
    const token = await credentials.token(text, request)
    if (!token) throw unknownToken(text)
    return { principal: principalOf(token) }
  }

  /**
   * A browser sends its cookie automatically, so a page of another site could make it write; but that page cannot set
   * our header.
   */
  async function signedIn(request: FastifyRequest, text: string): Promise<Known> {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (!reads) checkConsoleHeader(request)
    const session = await credentials.session(text, request)
    if (!session) throw new Refusal('invalid_token', 'The session is over. Sign in again.')
    return { principal: session.principal, session }
  }

  /** The project of the path. A project outside the caller's reach and one that does not exist get the same response. */
  async function projectOf(request: FastifyRequest, principal: Principal): Promise<Project | undefined> {
    const { project_id: wanted } = request.params as { project_id?: ProjectId }
    // A text that cannot be an id is not looked up: the database would refuse a NUL.
    const possible = wanted !== undefined && isProjectId(wanted)
    return possible && roleIn(principal, wanted) ? credentials.project(wanted) : undefined
  }

  const spendOfCaller = (reply: FastifyReply, principal: Principal): Spent =>
    shown(reply, limits.take(actorOf(principal), callerLimit))

  return {
    byKey,
    byAgentKey,
    withWriteKey,
    /** The key of an analytics SDK as the user of basic authentication. Undefined: it may be in the body. */
    byWriteKey(request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller> | undefined {
      const encoded = /^Basic +(\S+) *$/i.exec(header(request, 'authorization'))?.[1]
      if (encoded === undefined) return undefined
      return withWriteKey(Buffer.from(encoded, 'base64').toString().split(':', 1)[0], request, reply)
    },
    /**
     * Whether the key of an agent is still valid, for streams, which may last for hours. It spends nothing, because the
     * caller sends nothing. Undefined below /manage, whose routes end the streams of their callers by themselves.
     */
    stillValid(request: FastifyRequest): (() => Promise<boolean>) | undefined {
      if (hasProjectParam(request)) return undefined
      const hash = hashOnce(request.raw.socket, agentKeyOf(request))
      return async () => (await credentials.key(hash))?.kind === 'secret'
    },
    /** For an agent that triggers a campaign: the campaign is known only after its message was read. */
    spendTrigger: (reply: FastifyReply, project: Project): Spent => spendTrigger(reply, limits, project),
    async byTokenForManagement(
      request: FastifyRequest,
      reply: FastifyReply,
      access: ManageAccess = 'admin'
    ): Promise<ManageCaller> {
      const { principal, session } = await knownCaller(request)
      await spendOfCaller(reply, principal)
      checkRole(request, principal, access)
      const project = await projectOf(request, principal)
      if (hasProjectParam(request) && !project) throw noProject(request, principal)
      const caller = {
        principal,
        actor: actorOf(principal),
        project,
        reach: (least: Role) => reachOf(principal, least)
      }
      return session ? { ...caller, session } : caller
    },
    /** Mounts the routes of /api/v1 for the console and the CLI: a viewer reads, an editor writes. */
    async byTokenForApi(request: FastifyRequest, reply: FastifyReply, access?: ApiAccess): Promise<ApiCaller> {
      const { principal } = await knownCaller(request)
      const project = await projectOf(request, principal)
      await (project ? spend(reply, limits, project, 'requests_per_second') : spendOfCaller(reply, principal))
      checkRole(request, principal, request.method === 'GET' || request.method === 'HEAD' ? 'viewer' : 'editor')
      if (!project) throw noProject(request, principal)
      if (access === 'trigger') await spendTrigger(reply, limits, project)
      return { project, actor: actorOf(principal) }
    }
  }
}

/** The header that a page of another site cannot send (docs/guides/console.md). */
export const consoleHeader = 'x-tidings-console'

/** Refuses a write of a signed-in browser that a page of another site may have caused. */
export function checkConsoleHeader(request: FastifyRequest): void {
  if (header(request, consoleHeader) === '')
    throw new Refusal('forbidden', `A signed-in browser must send the header ${consoleHeader} to change something.`)
}

const lastKey = Symbol('last key')
type Remembering = Socket & { [lastKey]?: { text: string; hash: string } }

/**
 * A connection sends the same key again and again, so its hash is kept, and compared only with the connection's own
 * last key.
 */
function hashOnce(socket: Remembering, text: string): string {
  const last = socket[lastKey]
  if (last?.text === text) return last.hash
  const hash = hashTextOf(text)
  // A copy: V8 keeps the whole head of the request alive for a part of it. Texts of bodies and paths may hold characters
  // that the copy changes into those of a key, and its hash is not theirs.
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  if (copy === text) socket[lastKey] = { text: copy, hash }
  return hash
}

/** A caller of single projects learns nothing about others: absent and out of reach look alike, and no id is repeated. */
function noProject(request: FastifyRequest, { kind, role, roles }: Principal): Refusal {
  if (role !== null) return noSuchProject((request.params as { project_id: string }).project_id)
  const own = roles.size === 1 ? `, which is for the project ${[...roles.keys()][0]}` : ''
  return new Refusal('not_found', `There is no such project for this ${kind}${kind === 'token' ? own : ''}.`)
}

function checkRole(request: FastifyRequest, principal: Principal, access: ManageAccess): void {
  const { kind, role, roles } = principal
  const least = access === 'installation' ? 'admin' : access
  const { project_id: wanted } = request.params as { project_id?: string }
  // Out of its reach the highest role counts: the response must not show whether the project exists.
  const inProject = wanted === undefined ? undefined : roleIn(principal, wanted)
  const own = inProject ?? highestRole(principal)
  if (own === undefined || !atLeast(own, least))
    throw new Refusal('forbidden', `This needs the role ${least}; the ${kind} is of role ${own ?? 'none'}.`)
  if (access === 'installation' && (role === null || !atLeast(role, 'admin'))) {
    const reached = kind === 'token' ? `; this one is for ${[...roles.keys()][0]}` : ''
    throw new Refusal('forbidden', `This needs ${needed[kind]} for the whole installation${reached}.`)
  }
}

const needed = { token: 'a token', member: 'the role admin' }

const hasProjectParam = (request: FastifyRequest) => 'project_id' in (request.params as object)

/** Nothing to wait for, unless the buckets are in another process. */
type Spent = undefined | Promise<undefined>

/** Goes on at once if there is nothing to wait for: a promise for each request would cost more than its bucket. */
const after = <Result>(spent: Spent, next: () => Result | Promise<Result>): Result | Promise<Result> =>
  spent === undefined ? next() : spent.then(next)

function spend(
  reply: FastifyReply,
  limits: RateLimits,
  project: Project,
  kind: 'requests_per_second' | 'client_requests_per_second'
): Spent {
  return shown(reply, limits.take(`${kind}:${project.id}`, project.limits[kind]))
}

/**
 * Counts a trigger against the plan's limit (contract 8). The response shows the headers of this limit only if it
 * refuses.
 */
function spendTrigger(reply: FastifyReply, limits: RateLimits, project: Project): Spent {
  const taken = limits.take(`triggers_per_second:${project.id}`, project.limits.triggers_per_second)
  const showRefusal = (allowance: Allowance) => (allowance.allowed ? undefined : show(reply, allowance))
  return taken instanceof Promise ? taken.then(showRefusal) : showRefusal(taken)
}

function shown(reply: FastifyReply, taken: Allowance | Promise<Allowance>): Spent {
  return taken instanceof Promise ? taken.then((allowance) => show(reply, allowance)) : show(reply, taken)
}

function show(reply: FastifyReply, allowance: Allowance): undefined {
  reply.header('x-ratelimit-limit', String(allowance.limit))
  reply.header('x-ratelimit-remaining', String(allowance.remaining))
  reply.header('x-ratelimit-reset', String(allowance.resetAt))
  if (allowance.allowed) return undefined
  reply.header('retry-after', allowance.retryAfterSeconds)
  throw new Refusal('rate_limited', 'Too Many Requests')
}

const bearerOf = (request: FastifyRequest): string =>
  /^Bearer +(\S+) *$/i.exec(header(request, 'authorization'))?.[1] ?? ''

const agentKeyOf = (request: FastifyRequest): string => header(request, 'x-api-key') || bearerOf(request)

function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

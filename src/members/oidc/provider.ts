import type { Configuration, CustomFetch } from 'openid-client'
import type { Log } from '../../platform/log.ts'
import { isLocalHost } from '../../platform/net/addresses.ts'
import { type Claims, readClaims } from './claims.ts'

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
  groupsClaim: string
  /** Whether plain http is allowed to other machines too. */
  allowPrivate: boolean
}

/** The secrets of one sign-in, which only the browser that began it holds. */
export interface Attempt {
  issuer: string
  redirectUri: string
  state: string
  nonce: string
  verifier: string
}

/** Why a sign-in did not succeed. The sign-in page has a sentence for each. */
export type OidcFailure = 'unreachable' | 'misconfigured' | 'declined' | 'expired' | 'failed' | 'no_role'

export class OidcRefused extends Error {
  override readonly name = 'OidcRefused'
  readonly why: OidcFailure

  constructor(why: OidcFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.why = why
  }
}

/** Wait for one response of the provider, and the most bytes of it. */
const requestSeconds = 5
const mostBytes = 1024 * 1024
/** How long the provider's metadata and keys are used before they are read again. */
const freshMs = 60 * 60_000
/** After a failure the provider is left alone for this long, so that clicks do not become a flood of requests. */
const pauseMs = 1_000

type Library = typeof import('openid-client')

/**
 * The provider by which members sign in. Its metadata is read at the first sign-in, not at the start: a provider that is
 * down must not stop the service.
 */
export function createProvider(settings: ProviderSettings, log: Log) {
  let known: { found: Promise<Configuration>; untilMs: number } | undefined

  function configuration(library: Library): Promise<Configuration> {
    if (known && known.untilMs > Date.now()) return known.found
    const found = discover(library, settings)
    known = { found, untilMs: Date.now() + freshMs }
    const entry = known
    found.catch(() => {
      entry.untilMs = Date.now() + pauseMs
    })
    return found
  }

  /** Runs one exchange with the provider. Every failure is logged with its cause and becomes an OidcRefused. */
  async function exchange<Result>(work: (library: Library, known: Configuration) => Promise<Result>): Promise<Result> {
    // Loaded here, so that a start without a provider does not read the library.
    const library = await import('openid-client')
    try {
      return await work(library, await configuration(library))
    } catch (error) {
      const refused = error instanceof OidcRefused ? error : refusalOf(error as Failed)
      log.warn(
        { issuer: settings.issuer, why: refused.why, error: messagesOf(error) },
        'a sign-in by OpenID Connect failed'
      )
      throw refused
    }
  }

  return {
    /** The address at the provider where a sign-in begins, and the secrets with which it must end. */
    begin: (redirectUri: string) =>
      exchange(async (library, known) => {
        const attempt: Attempt = {
          issuer: settings.issuer,
          redirectUri,
          state: library.randomState(),
          nonce: library.randomNonce(),
          verifier: library.randomPKCECodeVerifier()
        }
        const url = library.buildAuthorizationUrl(known, {
          redirect_uri: redirectUri,
          scope: scopeOf(known),
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
          code_challenge_method: 'S256'
        })
        return { url: url.href, attempt }
      }),

    /** Exchanges the code of a response for the claims about a person. `query` is the response, as the browser brought it. */
    finish: (query: string, { redirectUri, state, nonce, verifier }: Attempt): Promise<Claims> =>
      exchange(async (library, known) => {
        const response = new URL(redirectUri)
        response.search = query
        const tokens = await library.authorizationCodeGrant(known, response, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier
        })
        const token = tokens.claims()!
        const asked = known.serverMetadata().userinfo_endpoint !== undefined
        // Many providers put only the subject into the token, and everything else here. The library compares the subject.
        const more = asked ? await library.fetchUserInfo(known, tokens.access_token, token.sub) : undefined
        return readClaims(settings, token, more)
      })
  }
}

async function discover(library: Library, settings: ProviderSettings): Promise<Configuration> {
  const issuer = new URL(settings.issuer)
  const found = await library.discovery(
    issuer,
    settings.clientId,
    undefined,
    library.ClientSecretBasic(settings.clientSecret),
    {
      timeout: requestSeconds,
      execute: [
        // Also the signature of a token that came straight from the provider is checked.
        library.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [])
      ],
      [library.customFetch]: boundedFetch(settings.allowPrivate)
    }
  )
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported
  if (!methods || methods.includes('client_secret_basic')) return found
  const posting = new library.Configuration(
    found.serverMetadata(),
    settings.clientId,
    undefined,
    library.ClientSecretPost(settings.clientSecret)
  )
  posting.timeout = requestSeconds
  posting[library.customFetch] = boundedFetch(settings.allowPrivate)
  library.enableNonRepudiationChecks(posting)
  if (issuer.protocol === 'http:') library.allowInsecureRequests(posting)
  return posting
}

/** `groups` is a scope at some providers; others refuse an unknown scope. */
const scopeOf = (known: Configuration): string =>
  [
    'openid',
    'email',
    'profile',
    ...(known.serverMetadata().scopes_supported?.includes('groups') ? ['groups'] : [])
  ].join(' ')

/** Reads no more than `mostBytes` of a response, and uses plain http only where the issuer may. */
const boundedFetch =
  (allowPrivate: boolean): CustomFetch =>
  async (address, { body, ...options }) => {
    const url = new URL(address)
    if (url.protocol === 'http:' && !allowPrivate && !isLocalHost(url))
      throw new OidcRefused('misconfigured', `the provider names ${url.origin}, which is not https`)
    const response = await fetch(url, { ...options, ...(body != null && { body: body as string }) })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new OidcRefused('misconfigured', `a response of ${url.origin} is too large`)
      chunks.push(chunk)
    }
    const empty = [204, 304].includes(response.status) || (response.status >= 300 && response.status < 400)
    return new Response(empty ? null : Buffer.concat(chunks), { status: response.status, headers: response.headers })
  }

type Failed = Error & { code?: string; error?: string; cause?: Error & { code?: string } }

/** Sorts the errors of the library: what a person can do about them differs. */
function refusalOf(error: Failed): OidcRefused {
  return new OidcRefused(whyOf(error), error.message, { cause: error })
}

function whyOf({ name, code, error, cause }: Failed): OidcFailure {
  const network = /^(E[A-Z]+|UND_ERR_\w+)$/
  if (error === 'access_denied') return 'declined'
  if (error === 'invalid_client' || error === 'unauthorized_client') return 'misconfigured'
  // The provider asks for other credentials of the client: the id or the secret is wrong.
  if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return 'misconfigured'
  if (error === 'invalid_grant') return 'expired'
  if (name === 'TimeoutError' || cause?.name === 'TimeoutError' || code === 'OAUTH_TIMEOUT') return 'unreachable'
  if (name === 'TypeError' || network.test(code ?? '') || network.test(cause?.code ?? '')) return 'unreachable'
  if (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON') return 'unreachable'
  return 'failed'
}

/** The chain of causes: the outer message of a failed connection is only `fetch failed`. */
function messagesOf(error: unknown): string {
  const messages: string[] = []
  for (let each = error; each instanceof Error && messages.length < 4; each = each.cause) messages.push(each.message)
  return [...new Set(messages)].join(': ')
}

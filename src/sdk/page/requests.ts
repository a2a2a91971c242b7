import { refusalOf, TidingsError, timeLimit, tooLate } from './errors.ts'
import type { TidingsOptions } from './types.ts'

export type Call = <Answer = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<Answer>

const attempts = 3
const defaultMs = 30_000
/** Browsers refuse larger bodies to requests that outlive their page. */
const mostAfterPage = 8_000

/**
 * Calls the service, for `timeoutMs` at most, repeats included. It repeats a request twice after a lost connection and while
 * the service is busy. That is harmless for every call of this client: each sets a state, or has ids that the service knows.
 */
export function createCall(base: string, options: TidingsOptions): Call {
  const { projectId, publicKey, userToken, timeoutMs = defaultMs } = options

  async function once(method: string, path: string, body: unknown, until: number): Promise<Response> {
    const text = body === undefined ? null : JSON.stringify(body)
    // Asked for at every attempt, because a token may have expired meanwhile.
    const token = path.startsWith('/devices/') && userToken ? await tokenFrom(userToken, until - Date.now()) : null
    return fetch(`${base}/api/v1${path}`, {
      method,
      headers: {
        'X-Service-Project-ID': projectId,
        'X-Service-API-Key': publicKey,
        ...(token && { 'X-Service-User-Token': token }),
        ...(text !== null && { 'Content-Type': 'application/json' })
      },
      body: text,
      // Lets the request outlive the page.
      keepalive: (text?.length ?? 0) <= mostAfterPage,
      credentials: 'omit',
      signal: AbortSignal.timeout(Math.max(1, until - Date.now()))
    })
  }

  return async (method, path, body) => {
    const until = Date.now() + timeoutMs
    for (let attempt = 1; ; attempt += 1) {
      const last = (pauseMs: number) => attempt === attempts || Date.now() + pauseMs >= until
      let pauseMs = 500 * 2 ** attempt
      try {
        const response = await once(method, path, body, until)
        if (response.ok) return await response.json()
        pauseMs = Math.max(pauseMs, Number(response.headers.get('retry-after') ?? 0) * 1_000)
        if ((response.status !== 429 && response.status < 500) || last(pauseMs)) throw await refusalOf(response)
      } catch (error) {
        if ((error as Error).name === 'TimeoutError') throw tooLate(`${base} did not respond`, timeoutMs)
        // fetch throws a TypeError for a lost connection.
        if (!(error instanceof TypeError)) throw error
        if (last(pauseMs)) throw unreachable(base, error)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

async function tokenFrom(userToken: NonNullable<TidingsOptions['userToken']>, ms: number) {
  const asked = (async () => userToken())().catch((cause: unknown) => {
    throw new TidingsError(0, 'user_token_failed', `userToken failed: ${(cause as Error)?.message ?? cause}`, { cause })
  })
  return timeLimit(ms)(asked, 'userToken did not return')
}

const unreachable = (base: string, cause: Error) =>
  new TidingsError(0, 'unreachable', `${base} cannot be reached: ${cause.message}`, { cause })

/** A refusal of the service (docs/reference/errors.md lists the codes), or `timeout` and `unreachable` with the status 0. */
export class TidingsError extends Error {
  override readonly name = 'TidingsError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.code = code
  }
}

export async function refusalOf(response: Response): Promise<TidingsError> {
  const text = await response.text()
  try {
    const { error, code } = JSON.parse(text) as { error?: string; code?: string }
    return new TidingsError(response.status, code ?? '', error ?? text)
  } catch {
    return new TidingsError(response.status, response.headers.get('x-service-error-code') ?? '', text)
  }
}

/** Limits several waits by one span of time. A browser that cannot reach its push service would wait forever. */
export function timeLimit(ms: number) {
  const until = Date.now() + ms
  return <Result>(promise: Promise<Result>, what: string): Promise<Result> => {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(tooLate(what, ms)), until - Date.now())
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }
}

export const tooLate = (what: string, ms: number) =>
  new TidingsError(0, 'timeout', `${what} within ${Math.round(ms / 100) / 10} s. Try again later.`)

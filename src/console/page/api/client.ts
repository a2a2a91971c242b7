import { ApiError } from './errors.ts'
export interface CallOptions {
  body?: unknown
  /** The body as it is, instead of an object. */
  text?: string
  query?: Record<string, string | number | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal
}

async function call<Result>(
  method: string,
  path: string,
  { body, text: plain, query, headers, signal }: CallOptions
): Promise<Result> {
  const url = new URL(path, location.origin)
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  }
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers: {
        'x-tidings-console': '1',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(plain !== undefined && { 'content-type': 'text/plain' }),
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(plain !== undefined && { body: plain }),
      ...(signal && { signal })
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The service is unreachable. Try again in a moment.')
  }
  const text = await response.text()
  if (response.status === 401 && !path.startsWith('/console/')) window.dispatchEvent(new Event('signed-out'))
  if (!response.ok) throw errorFrom(response, text)
  return (text ? JSON.parse(text) : {}) as Result
}

function errorFrom(response: Response, text: string): ApiError {
  const hint = response.headers.get('x-service-error-detail')
  try {
    const { error, code, details } = JSON.parse(text)
    return new ApiError(response.status, error ?? response.statusText, code, details)
  } catch {
    return new ApiError(response.status, hint ?? (text || response.statusText))
  }
}

/** `crypto.randomUUID` needs https, and consoles on a private network are often opened over http. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Calls an endpoint under /manage/v1. The console uses documented endpoints only, with the cookie of the session. */
export const manage = <Result>(method: string, path: string, asked: CallOptions = {}) =>
  call<Result>(method, `/manage/v1${path}`, asked)

/** Calls an endpoint of one project: `/users`, or the public API as `/api/v1/messages:send`. */
export const project = <Result>(id: string, method: string, path: string, asked: CallOptions = {}) =>
  manage<Result>(method, `/projects/${encodeURIComponent(id)}${path}`, asked)

/** Calls an endpoint that signs browsers in and out. */
export const browser = <Result>(method: string, path: string, body?: unknown) =>
  call<Result>(method, path, body === undefined ? {} : { body })

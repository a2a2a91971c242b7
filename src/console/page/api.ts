/** Everything the console does goes through documented endpoints of /manage/v1, with the cookie of the session. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: { path: string; message: string }[]

  constructor(status: number, message: string, code = '', details: ApiError['details'] = []) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export interface Asked {
  body?: unknown
  query?: Record<string, string | number | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal
}

async function call<Answer>(method: string, path: string, { body, query, headers, signal }: Asked): Promise<Answer> {
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
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal })
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The service is unreachable. Try again in a moment.')
  }
  const text = await response.text()
  if (response.status === 401 && !path.endsWith('/session')) window.dispatchEvent(new Event('signed-out'))
  if (!response.ok) throw refusalOf(response, text)
  return (text ? JSON.parse(text) : {}) as Answer
}

function refusalOf(response: Response, text: string): ApiError {
  const hint = response.headers.get('x-service-error-detail')
  try {
    const { error, code, details } = JSON.parse(text)
    return new ApiError(response.status, error ?? response.statusText, code, details)
  } catch {
    return new ApiError(response.status, hint ?? (text || response.statusText))
  }
}

/** A refusal of one field alone may name it in its words only. */
function detailsOf({ details, message }: ApiError): ApiError['details'] {
  const [, path, words] = /^([\w.[\]]+): (.+)$/s.exec(message) ?? []
  return details.length === 0 && path && words ? [{ path, message: words }] : details
}

/** What the service says about one field, in its own words; of what is inside it with its place there. */
export function problemAt(error: Error | null | undefined, path: string, only = false): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = detailsOf(error).filter(
    (detail) =>
      detail.path === path || (!only && (detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`)))
  )
  const place = (inside: string) => inside.slice(path.length).replace(/^\./, '')
  const told = found.map(({ path: at, message }) => (at === path ? message : `${place(at)}: ${message}`))
  return told.join(' · ') || undefined
}

/** The same for a form of one field, beside which everything stands that is said. */
export const problemOf = (error: Error | null | undefined, path: string): string | undefined =>
  problemAt(error, path) ?? error?.message

/** What is taken already is beside the field of its id. */
export const conflictIn = (error: Error | null | undefined): string | undefined =>
  error instanceof ApiError && error.code === 'conflict' ? error.message : undefined

/** `crypto.randomUUID` is for pages by https alone; the console is also opened by http in a house's own network. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Under /manage/v1. */
export const manage = <Answer>(method: string, path: string, asked: Asked = {}) =>
  call<Answer>(method, `/manage/v1${path}`, asked)

/** Under the project: `/users`, or the public API as `/api/v1/messages:send`. */
export const project = <Answer>(id: string, method: string, path: string, asked: Asked = {}) =>
  manage<Answer>(method, `/projects/${encodeURIComponent(id)}${path}`, asked)

export const session = <Answer>(method: string, body?: unknown) =>
  call<Answer>(method, '/console/session', body === undefined ? {} : { body })

export interface Page<Item> {
  items: Item[]
  next_cursor: string | null
}

import { parseArgs } from 'node:util'

export interface Request {
  method: string
  url: URL
  headers: Headers
  body?: string
}

/** The request that a line of curl sends. Throws for an option that no page may use without this knowing it. */
export function requestOf(args: string[]): Request {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      request: { type: 'string', short: 'X' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
      'data-urlencode': { type: 'string' },
      get: { type: 'boolean', short: 'G' },
      user: { type: 'string', short: 'u' },
      output: { type: 'string', short: 'o' },
      'upload-file': { type: 'string', short: 'T' },
      'no-buffer': { type: 'boolean', short: 'N' },
      silent: { type: 'boolean', short: 's' },
      fail: { type: 'boolean', short: 'f' }
    }
  })
  const url = new URL(positionals[0]!)
  const [name, value] = values['data-urlencode']?.split(/=(.*)/s) ?? []
  if (values.get && name) url.searchParams.set(name, value!)
  const headers = new Headers((values.header ?? []).map((one) => one.split(/: (.*)/s).slice(0, 2) as [string, string]))
  if (values.user) headers.set('authorization', `Basic ${Buffer.from(values.user).toString('base64')}`)
  const body = values.data ?? (values['upload-file'] === undefined ? undefined : '{"project_user_id":"ben"}\n')
  const method = values.request ?? (body === undefined ? 'GET' : 'POST')
  return { method, url, headers, ...(body !== undefined && { body }) }
}

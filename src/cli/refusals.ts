import { detailsIn } from '../client/details.ts'
import type { Detail } from '../platform/errors.ts'
import { type ExitCode, exit, Failure } from './exit.ts'

interface Refused {
  error?: unknown
  code?: unknown
  details?: Detail[]
}

/** Turns an error response into a failure: the message of the service, and the next step. */
export async function asFailure(url: string, response: Response): Promise<Failure> {
  const text = await response.text().catch(() => '')
  const body = parse(text)
  const { status, headers } = response
  // If the contract fixes the body, headers carry the reason.
  const code = String(headers.get('x-service-error-code') ?? body.code ?? `http_${status}`)
  const plain = typeof body.error === 'string' ? body.error : /^[^<\n]{1,200}$/.test(text) ? text : ''
  const line = headers.get('x-service-error-detail')
  const said = sentence(line ?? plain)
  const details = line ? detailsIn(line) : Array.isArray(body.details) ? body.details : []
  const failure = (exitCode: ExitCode, message: string) => new Failure(exitCode, code, message, { details })
  switch (true) {
    case status === 401:
      return failure(exit.denied, `${said || 'The token is not accepted.'} Check --token or TIDINGS_TOKEN for ${url}.`)
    case status === 403:
      return failure(exit.denied, `${said} Use a token that may do this.`.trim())
    // Commands ask only for paths that exist, so this node does not serve the API.
    case status === 404 && headers.has('x-request-id') && body.error === 'Not Found' && code === 'http_404':
      return failure(
        exit.failure,
        `${url} does not serve the management API. A worker (\`tidings serve --role worker\`) serves only health, ` +
          'metrics and the API page: give the address of another node as --url.'
      )
    case status === 404 && (headers.has('x-request-id') || code === 'not_found'):
      return failure(exit.notFound, said || 'Not found.')
    // 4.4 makes an unknown campaign of a trigger a 400.
    case code === 'campaign_not_found':
      return failure(exit.notFound, said)
    case status === 429:
      return failure(exit.unavailable, `${url} refused: the rate limit is used up. Try again later.`)
    case status === 502 || status === 503 || status === 504:
      return failure(
        exit.unavailable,
        `${url} is not available (HTTP ${status}). Look for the cause with \`tidings doctor\`.`
      )
    case status >= 300 && status < 400:
      return failure(exit.failure, `${url} redirects to another address. Give that one as --url.`)
    case !headers.has('x-request-id'):
      return failure(exit.failure, `The server at ${url} is not Tidings (HTTP ${status}). Check the address.`)
    case status >= 500:
      return failure(
        exit.failure,
        `${url} failed (HTTP ${status}). See its log for request ${headers.get('x-request-id')}.`
      )
    default:
      return failure(
        exit.failure,
        (line ? inLines(line, details) : withOthers(said, details)) || `${url} refused (HTTP ${status}).`
      )
  }
}

/** A fixed body names no fault, and the header names all in one line. */
const inLines = (line: string, details: readonly Detail[]): string =>
  details.length === 0 ? sentence(line) : details.map(worded).join('\n')

/** The service names its first fault in the sentence; the others follow, each on a line. */
function withOthers(said: string, [, ...others]: readonly Detail[]): string {
  return [said, ...others.map(worded)].join('\n')
}

const worded = ({ path, message }: Detail): string => `${path}: ${sentence(message)}`

function parse(text: string): Refused {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Refused) : {}
  } catch {
    return {}
  }
}

const sentence = (text: string) => text.trim().replace(/([^.?!])$/, '$1.')

/** Why no response came. Names the address and never the token. */
export function unreachable(url: string, error: unknown): Failure {
  const { name, cause } = error as Error
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException
  const failure = (text: string) => new Failure(exit.unavailable, 'unreachable', text, { cause: error })
  if (code === 'ECONNREFUSED')
    return failure(`No service responds at ${url}. Start it with \`tidings serve\`, or check the address.`)
  // The fetch standard bars ports of old protocols, such as 6000 and 10080.
  if (message === 'bad port')
    return failure(`${url} has a port that HTTP clients refuse. Choose another PORT for the service.`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return failure(`The host ${new URL(url).hostname} cannot be found. Check the address and the network.`)
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT')
    return failure(`${url} does not respond in time. Check the address, or try again.`)
  return failure(`The connection to ${url} failed: ${message || code || (error as Error).message}. Try again.`)
}

/** Whether a connection that was open ended before the response. */
export const brokeOff = (error: unknown): boolean =>
  error instanceof Failure &&
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(
    ((error.cause as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  )

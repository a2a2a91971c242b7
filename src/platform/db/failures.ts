import { Unavailable } from '../errors.ts'

// Connection failures (08), shutdown and cancel (57), resources (53), lost races (40), a demoted primary (25006).
const passing = /^(08|57|53|40)|^25006$/
// A Citus worker went away during a statement: the coordinator passes the text of its client library on, without a code.
const workerLost =
  /^(failure on connection marked as essential|failed to COPY to shard|could not commit transaction|server closed the connection|could not (receive|send) data|connection not open|no connection to the server|SSL (connection|SYSCALL error)|connection to (the remote node|server) )/
const network = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN'
])

/** Whether the same call may succeed later, unchanged. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unavailable) return true
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  if (passing.test(code) || network.has(code)) return true
  if ((code === 'XX000' || code === '58030') && workerLost.test(error.message)) return true
  // pg gives these no code.
  return /^(Connection terminated|Cannot use a pool after calling end|timeout expired|timeout exceeded when trying|Query read timeout|Client has encountered a conn)/.test(
    error.message
  )
}

/** Whether a statement was refused only because one before it, in the same transaction, had failed. */
export const isAborted = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '25P02'

/** Throws `Unavailable` for what may succeed later, and any other error as it is. */
export function fail(error: unknown): never {
  if (isPassing(error) && !(error instanceof Unavailable)) {
    throw new Unavailable(`The database cannot answer now: ${(error as Error).message}`, { cause: error })
  }
  throw error
}

/** Whether the fault lies in a value that was sent (class 22: data, 54: limits, 23: constraints), not in the server. */
export function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|54)/.test(String(error.code))
}

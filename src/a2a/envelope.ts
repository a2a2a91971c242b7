import { isUtf8 } from 'node:buffer'
import { isObject } from '../platform/fields.ts'
import { sizeOf } from '../platform/http/json/count.ts'
import { parseBounded, readInSlices, Unreadable } from '../platform/http/json/read.ts'
import { faultIn, type JsonFault } from '../platform/json/storable.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Fields } from './dialects/fields.ts'
import { AgentError, reasonOf } from './errors.ts'

export type RpcId = string | number

export interface Call {
  id: RpcId
  method: string
  params: Fields
}

/** Deeper than any sensible message. Within this depth, recursive functions are safe. */
const maxDepth = 64
/**
 * Twice the values of a request with 20,000 targets. Reading, comparing, checking, storing and returning a message
 * takes about 3 µs for each value.
 */
const maxValues = 100_000
/** The bytes that are read of a call that is too large, so that its refusal can carry its id. */
const head = {
  type: 'object',
  properties: { id: { type: 'string' }, jsonrpc: { type: 'string' }, method: { type: 'string' } }
}

/** A call as far as it could be read: its id, with either the call or the error that it gets. */
export interface ReadCall {
  id: RpcId | null
  call: () => Call
}

/** Reads the bytes as a JSON-RPC 2.0 request. It counts the values before it builds any of them. */
export async function readCall(body: Buffer | undefined): Promise<ReadCall> {
  if (!body || !isUtf8(body)) return notJson
  const { levels, values } = await sizeOf(body)
  const tooMuch =
    levels > maxDepth
      ? `${maxDepth} levels`
      : values > maxValues
        ? `${maxValues.toLocaleString('en')} values`
        : undefined
  try {
    const bounds = { levels: maxDepth, values: maxValues }
    if (tooMuch === undefined) return asCall(await parseBounded(body, bounds), body)
    const read = asCall(await readInSlices(body, head, bounds), body)
    return { id: read.id, call: () => refuseLarge(read, tooMuch) }
  } catch (error) {
    if (!(error instanceof Unreadable)) return notJson
    return { id: null, call: refuse('parse_error', `The request cannot be read: ${error.message}.`) }
  }
}

function refuseLarge({ call }: ReadCall, tooMuch: string): never {
  call()
  throw new AgentError('invalid_params', `The request has more than ${tooMuch}.`)
}

function asCall(value: unknown, body: Buffer): ReadCall {
  if (Array.isArray(value))
    return { id: null, call: refuse('invalid_request', 'Several calls in one request are not taken.') }
  if (!isObject(value)) return { id: null, call: refuse('invalid_request', 'The body must be a JSON object.') }
  const id = readId(value.id)
  if (id === undefined) return { id: null, call: refuse('invalid_request', faultOfId(value.id)) }
  const fields = value
  return {
    id,
    call() {
      const { jsonrpc, method, params = {} } = fields
      if (jsonrpc !== '2.0') throw new AgentError('invalid_request', 'jsonrpc must be "2.0".')
      if (typeof method !== 'string') throw new AgentError('invalid_request', 'method must be a string.')
      if (params !== null && !isObject(params)) throw new AgentError('invalid_params', 'params must be an object.')
      // Only an escape can contain characters that PostgreSQL cannot store: the bytes themselves are valid UTF-8.
      checkValues(fields, body.includes('\\u'))
      return { id, method, params: params ?? {} }
    }
  }
}

const maxId = 255

/** Returns only ids that come back as they were sent: a whole number beyond 2^53 would come back as another one. */
function readId(id: unknown): RpcId | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) || isFraction(id) ? id : undefined
  return typeof id === 'string' && id.length <= maxId && id.isWellFormed() ? id : undefined
}

const isFraction = (id: number) => Number.isFinite(id) && !Number.isInteger(id)

function faultOfId(id: unknown): string {
  if (typeof id === 'number') return 'id is a number beyond 2^53, which JSON libraries round: send it as a string.'
  if (typeof id === 'string') return `id must be at most ${maxId} characters, without lone surrogates.`
  return 'id must be a string or a number: every call gets a response.'
}

const refuse = (fault: 'parse_error' | 'invalid_request', message: string) => (): never => {
  throw new AgentError(fault, message)
}

const notJson: ReadCall = { id: null, call: refuse('parse_error', 'The body is not JSON.') }

/** From here on, no value is too deep for the stack, and the database can store each of them. */
export function checkValues(value: unknown, escaped: boolean): void {
  const fault = faultIn(value, maxDepth, escaped)
  if (fault) throw new AgentError('invalid_params', faultWords[fault])
}

const faultWords: Record<JsonFault, string> = {
  levels: `The request has more than ${maxDepth} levels.`,
  number: 'A number is out of range.',
  text: 'A string holds NUL or a lone surrogate.'
}

export const success = (id: RpcId, result: unknown) => ({ jsonrpc: '2.0', id, result })

/** The error says more in `data`, in the form that official clients of 1.0 read. */
export function failure(id: RpcId | null, error: AgentError, dialect: Dialect) {
  const { fault, message, field } = error
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: reasonOf(fault),
    domain: 'a2a-protocol.org'
  }
  const violation = field !== undefined && {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: [{ field, description: message }]
  }
  const code = dialect.codeOf(fault)
  return { jsonrpc: '2.0', id, error: { code, message, data: violation ? [info, violation] : [info] } }
}

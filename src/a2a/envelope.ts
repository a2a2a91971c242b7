import { isUtf8 } from 'node:buffer'
import { isStorable } from '../platform/http/body.ts'
import type { Dialect } from './dialects/dialect.ts'
import { type Fields, isObject } from './dialects/fields.ts'
import { AgentError, reasonOf } from './errors.ts'

export type RpcId = string | number

export interface Call {
  id: RpcId
  method: string
  params: Fields
}

/** Deeper than any sensible message. Below it every function may call itself. */
const maxDepth = 64

/** The bytes as a JSON-RPC 2.0 request. The id is answered as far as it could be read. */
export function readCall(body: Buffer | undefined): { id: RpcId | null; call: () => Call } {
  let value: unknown
  const text = body && isUtf8(body) ? body.toString('utf8') : undefined
  try {
    value = JSON.parse(text ?? '')
  } catch {
    return { id: null, call: refuse('parse_error', 'The body is not JSON.') }
  }
  if (Array.isArray(value))
    return { id: null, call: refuse('invalid_request', 'Several calls in one request are not taken.') }
  if (!isObject(value)) return { id: null, call: refuse('invalid_request', 'The body must be a JSON object.') }
  const id = readId(value.id)
  if (id === undefined)
    return { id: null, call: refuse('invalid_request', 'id must be a string or a number: every call is answered.') }
  const fields = value
  return {
    id,
    call() {
      const { jsonrpc, method, params = {} } = fields
      if (jsonrpc !== '2.0') throw new AgentError('invalid_request', 'jsonrpc must be "2.0".')
      if (typeof method !== 'string') throw new AgentError('invalid_request', 'method must be a string.')
      if (params !== null && !isObject(params)) throw new AgentError('invalid_params', 'params must be an object.')
      // Only an escape can bring in what cannot be stored: the bytes themselves are valid UTF-8.
      checkValues(fields, /\\u(?:0000|[dD][89a-fA-F])/.test(text!))
      return { id, method, params: params ?? {} }
    }
  }
}

const maxId = 255

function readId(id: unknown): RpcId | undefined {
  if (typeof id === 'number') return Number.isFinite(id) ? id : undefined
  return typeof id === 'string' && id.length <= maxId && id.isWellFormed() ? id : undefined
}

const refuse = (fault: 'parse_error' | 'invalid_request', message: string) => (): never => {
  throw new AgentError(fault, message)
}

/** Goes no deeper than allowed, so that depth cannot exhaust the stack; past here it cannot anywhere. */
export function checkValues(value: unknown, escaped: boolean, depth = 1): void {
  if (typeof value === 'string') {
    if (escaped && !isStorable(value)) throw unstorable()
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new AgentError('invalid_params', 'A number is out of range.')
  } else if (typeof value === 'object' && value !== null) {
    if (depth > maxDepth) throw new AgentError('invalid_params', `The request has more than ${maxDepth} levels.`)
    if (Array.isArray(value)) for (const inner of value) checkValues(inner, escaped, depth + 1)
    else {
      // What was parsed has no names but its own.
      for (const name in value) {
        if (escaped && !isStorable(name)) throw unstorable()
        checkValues((value as Fields)[name], escaped, depth + 1)
      }
    }
  }
}

const unstorable = () => new AgentError('invalid_params', 'A string holds NUL or a lone surrogate.')

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

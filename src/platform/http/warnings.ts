import type { FastifyReply } from 'fastify'
import { mostUnknown, type UnknownField } from '../unknown-names.ts'

const mostCharacters = 256

/**
 * Names ignored fields of the request in the header `X-Service-Warning`. The response itself stays unchanged: unknown
 * fields are allowed, but a misspelt field has no effect, and the caller should learn why.
 */
export function warnOfFields(reply: FastifyReply, fields: UnknownField[], kind: 'field' | 'parameter' = 'field'): void {
  if (fields.length > 0) warn(reply, [fieldWarning(fields, kind)])
}

/** Says in the header what has no effect, or another one than the caller expects. The sentences are printable ASCII. */
export function warn(reply: FastifyReply, sentences: string[]): void {
  if (sentences.length > 0) reply.header('x-service-warning', sentences.join('; ').slice(0, mostCharacters))
}

export function fieldWarning(fields: UnknownField[], kind: 'field' | 'parameter' = 'field'): string {
  const named = fields.slice(0, mostUnknown).map(({ name, meant }) => {
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`
    return `"${printable(name)}"${hint}`
  })
  return `unknown ${kind} ${named.join(', ')}`.slice(0, mostCharacters)
}

/** A header holds printable ASCII only, and callers choose the names of fields. */
export const printable = (name: string): string => name.slice(0, 64).replace(/[^\x20-\x7e]|"/gu, '?')

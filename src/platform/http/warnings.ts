import type { FastifyReply } from 'fastify'

export interface UnknownField {
  name: string
  /** The field that the caller probably means. */
  meant?: string | undefined
}

const mostNames = 5
const mostCharacters = 256

/**
 * Names ignored fields of the request in the header `X-Service-Warning`. The response itself stays unchanged: unknown
 * fields are allowed, but a misspelt field has no effect, and the caller should learn why.
 */
export function warnOfFields(reply: FastifyReply, fields: UnknownField[]): void {
  if (fields.length > 0) reply.header('x-service-warning', fieldWarning(fields))
}

export function fieldWarning(fields: UnknownField[]): string {
  const named = fields.slice(0, mostNames).map(({ name, meant }) => {
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`
    return `"${printable(name)}"${hint}`
  })
  return `unknown field ${named.join(', ')}`.slice(0, mostCharacters)
}

/** A header holds printable ASCII only, and callers choose the names of fields. */
const printable = (name: string): string => name.slice(0, 64).replace(/[^\x20-\x7e]|"/gu, '?')

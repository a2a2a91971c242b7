import type { AuditEntry } from '../../../../wire.ts'

export interface FieldChange {
  field: string
  from: string
  to: string
}

type Values = Record<string, unknown>

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `limits.requests_per_second` becomes `limits: requests per second`. */
const nameOf = (path: string[]) => path.join(': ').replaceAll('_', ' ')

/** The fields that a change altered, with the old and the new value of each. */
export function changesIn({ details }: AuditEntry): FieldChange[] {
  return isValues(details.before) ? compared(details.before, details, []) : []
}

function compared(before: Values, now: Values, path: string[]): FieldChange[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const fresh = now[name]
    const here = [...path, name]
    if (isValues(old) && isValues(fresh)) return compared({ ...blank(fresh), ...old }, fresh, here)
    const [from, to] = [textOf(old), textOf(fresh)]
    return from === to ? [] : [{ field: nameOf(here), from, to }]
  })
}

/** Fields that only the new value has were not set before. */
const blank = (values: Values): Values => Object.fromEntries(Object.keys(values).map((name) => [name, null]))

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ') || 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

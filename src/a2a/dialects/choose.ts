import { isObject } from '../../platform/fields.ts'
import { AgentError } from '../errors.ts'
import type { DialectName } from '../model.ts'
import type { Dialect } from './dialect.ts'
import type { Fields } from './fields.ts'
import { legacy } from './legacy.ts'
import { official } from './official.ts'
import { plain } from './plain.ts'

const byName: Record<DialectName, Dialect> = { plain, official, legacy }
export const dialectOf = (name: DialectName): Dialect => byName[name]

/** The mark that official clients send on every call when the card asks for it. */
export const tenantMark = 'a2a'

export type Version = '1.0' | '0.3'

/**
 * Reads the version from the header, or from the query if the header is absent. A leading v and the third number do not
 * count. A call without a version has the older one. A header that is sent twice, which Node joins with a comma, must
 * name one version.
 */
export function versionOf(header: unknown, query: unknown): Version | undefined {
  // Nearly every call sends it so, and the other forms take as long to read as a small message.
  if (header === '1.0') return header
  const given = [namesIn(header), namesIn(query)].find((names) => names.length > 0) ?? ['0.3']
  const [version, ...others] = new Set(given.map(readVersion))
  return others.length === 0 ? version : undefined
}

const namesIn = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((one) => (typeof one === 'string' ? one.split(',') : []))
    .map((name) => name.trim())
    .filter((name) => name !== '')

function readVersion(name: string): Version | undefined {
  if (/^v?1(\.0(\.\d+)?)?$/i.test(name)) return '1.0'
  return /^v?0\.3(\.\d+)?$/i.test(name) ? '0.3' : undefined
}

export const unsupportedVersion = () =>
  new AgentError('version_not_supported', 'A2A-Version must be 1.0 or 0.3; this agent speaks no other version.')

/** The dialect that the version alone decides, for calls that could not be read any further. */
export const defaultDialect = (version: Version | undefined): Dialect => (version === '0.3' ? legacy : plain)

/**
 * The spelling that a call of version 1.0 shows. If it shows none, the result is undefined: then its task decides, or
 * else the contract.
 */
export function shownDialect(params: Fields, tokenDialect: DialectName | undefined): Dialect | undefined {
  const message = params.message
  const role = isObject(message) ? message.role : undefined
  return bySpelling(role, 'ROLE_') ?? bySpelling(params.status, 'TASK_STATE_') ?? sealed(tokenDialect) ?? marked(params)
}

function bySpelling(value: unknown, prefix: string): Dialect | undefined {
  if (typeof value === 'number') return official
  if (typeof value !== 'string' || value === '') return undefined
  return value.startsWith(prefix) ? official : plain
}

const sealed = (name: DialectName | undefined) => (name === undefined ? undefined : dialectOf(name))
const marked = (params: Fields) => (params.tenant === tenantMark ? official : undefined)

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readHosts } from '../db/hosts/hosts.ts'

/** Reads the text of one variable. Throws a plain sentence that describes a valid value. */
export type Parse<Value> = (text: string) => Value

export interface Setting<Value> {
  parse: Parse<Value>
  /** Absent: the setting is optional and has no default. */
  fallback?: string
  /** The default in words for the docs, if it is not a constant. */
  fallbackText?: string
  about: string
  secret?: boolean
}

export const setting = <Value>(
  parse: Parse<Value>,
  about: string,
  more: Partial<Setting<Value>> = {}
): Setting<Value> => ({
  parse,
  about,
  ...more
})

export const text: Parse<string> = (value) => value

export const whole =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`)
    return number
  }

export const flag: Parse<boolean> = (value) => {
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw new Error('must be true or false (1 or 0)')
}

export const oneOf =
  <Name extends string>(...names: Name[]): Parse<Name> =>
  (value) => {
    if (!names.includes(value as Name)) throw new Error(`must be one of ${names.join(', ')}`)
    return value as Name
  }

export const url =
  (...schemes: string[]): Parse<string> =>
  (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined
    if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
    }
    return value
  }

/** Reads the address of a PostgreSQL, which may name several hosts. */
export const databaseUrl: Parse<string> = (value) => {
  readHosts(value)
  return value
}

/** Reads the address of one standby. The driver ignores the wish for a standby, which the server is asked about anyway. */
export const replicaUrl: Parse<string> = (value) => {
  const address = value.replace(/([?&])target_session_attrs=[^&#]*&?/g, '$1')
  if (readHosts(address).length > 1)
    throw new Error('must name one standby; put an address that moves or balances before several')
  return address
}

/** A request to an address that contains a password fails, and its error would show the password. */
export const plainUrl: Parse<string> = (value) => {
  const { username, password, hash } = new URL(url('http', 'https')(value))
  if (username || password || hash) throw new Error('must be an address without a user name, a password and #')
  return value
}

/** Origins as a browser sends them: scheme, host and port only. */
export const origins: Parse<readonly string[]> = (value) => {
  const list = value.split(',').map((one) => one.trim())
  const isOrigin = (one: string) => /^https?:/.test(one) && URL.canParse(one) && new URL(one).origin === one
  if (!list.every(isOrigin))
    throw new Error('must be a list of origins without a path, as in https://console.example.com')
  return Object.freeze(list)
}

export const masterKey: Parse<Buffer> = (value) => {
  const key = Buffer.from(value, 'base64')
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(value) || key.length !== 32)
    throw new Error('must be 32 bytes in base64 (openssl rand -base64 32)')
  return key
}

export const signingKey: Parse<KeyObject> = (value) => {
  const inline = /^\s*(\{|-----BEGIN)/.test(value)
  const kinds = 'a private key, P-256 or Ed25519, as PEM or JWK, or the path of a file with one'
  let key: KeyObject
  try {
    const text = (inline ? value : readFileSync(value, 'utf8')).trim()
    key = text.startsWith('{') ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' }) : createPrivateKey(text)
  } catch (error) {
    // The message of a parser may repeat the key; that of a missing file does not.
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Error(`must be ${kinds}${inline || !/^E[A-Z]+$/.test(code) ? '' : ` (${code})`}`)
  }
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (key.asymmetricKeyType !== 'ed25519' && curve !== 'prime256v1') throw new Error(`must be ${kinds}`)
  return key
}

export const credential =
  (prefix: string, longest = 255): Parse<string> =>
  (value) => {
    // Header values: visible ASCII only, so that a key that can be stored can also be sent.
    if (!value.startsWith(prefix) || !/^[\x21-\x7e]+$/.test(value) || value.length > longest) {
      throw new Error(`must ${prefix ? `start with ${prefix} and ` : ''}be at most ${longest} visible ASCII characters`)
    }
    return value
  }

export const projectId: Parse<string> = (value) => {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(value)) throw new Error('must be 1 to 64 letters, digits, _ or -')
  return value
}

/** A list of plans, each a name with its triggers per second, as in `gold:5000`. 0 means no limit. */
export const plans: Parse<Readonly<Record<string, number>>> = (value) => {
  const found: Record<string, number> = {}
  for (const entry of value.split(',')) {
    const match = /^\s*([a-z0-9_-]{1,64}):(\d{1,9})\s*$/.exec(entry)
    if (!match)
      throw new Error('must be a list of name:triggers_per_second, for example free:10,standard:1000,unlimited:0')
    found[match[1]!] = Number(match[2])
  }
  if (!('standard' in found)) throw new Error('must contain the plan standard, which new projects get')
  return Object.freeze(found)
}

/** A role that a group of the identity provider grants, in the whole installation or in one project. */
export interface GroupRole {
  group: string
  role: 'viewer' | 'editor' | 'admin'
  /** Null: the whole installation. */
  project: string | null
}

/** A list of group=role, or group=role@project. The last = counts, because names of groups may contain one. */
export const groupRoles: Parse<readonly GroupRole[]> = (value) =>
  Object.freeze(
    value.split(',').map((entry): GroupRole => {
      const match = /^\s*(\S.*)=(viewer|editor|admin)(?:@([A-Za-z0-9_-]{1,64}))?\s*$/.exec(entry)
      if (!match)
        throw new Error(
          'must be a list of group=role, for example staff=viewer,ops=admin,growth=editor@demo; roles are viewer, editor and admin'
        )
      return { group: match[1]!.trim(), role: match[2] as GroupRole['role'], project: match[3] ?? null }
    })
  )

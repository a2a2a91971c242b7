import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { type Allowed, isLocalHost, isLoopback, mayConnect } from './addresses.ts'

/** The addresses of a name. Rejects when it has none. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

/** As other programs of this machine do, with its own names. Node makes few such look-ups at once. */
export const resolveBySystem: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/**
 * Asks the name servers of this machine without its threads for look-ups: names that never answer would keep these from
 * everything else that connects, such as the gateways and the database. `servers`: for tests.
 */
export const resolverWith =
  (servers?: readonly string[]): Resolve =>
  async (host) => {
    if (/(?:^|\.)localhost$/.test(host)) return resolveBySystem(host)
    const resolver = new Resolver({ timeout: 1_000, tries: 2 })
    if (servers) resolver.setServers(servers)
    const asked = [resolver.resolve4(host), resolver.resolve6(host)]
    const found = (await Promise.allSettled(asked)).flatMap((result, place) =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family: place === 0 ? 4 : 6 })) : []
    )
    return found.length > 0 ? found : asked[0]!.then(() => [])
  }

export const resolveByDns: Resolve = resolverWith()

/** Private networks have names that only their machines know. */
export const resolveFor = (allowPrivate: boolean): Resolve => (allowPrivate ? resolveBySystem : resolveByDns)

const longestUrl = 2_048
/** How long a registration waits for DNS; every connection looks the name up again. */
const resolveMs = 3_000
const setting = 'WEBHOOK_ALLOW_PRIVATE'

/** Names that mean this machine or this network wherever they are looked up. */
const localName = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa|onion)$/
/** Ports above those of the system that browsers refuse to call by HTTP. */
const oddPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
])

/** The reason why a url may not be called, from its text alone; null if the text shows none. */
export function refuseUrl(text: string, allowed: Allowed): string | null {
  if (text.length > longestUrl) return `is longer than ${longestUrl} characters`
  // The parser would silently drop some of these.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'holds a space, a control character or a backslash'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url) return 'is not a url'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  // Names that mean this machine by RFC 6761. Their addresses are still checked at the connection.
  const local = allowed === 'loopback' && isLocalHost(url)
  if (url.protocol === 'http:' && allowed !== true && !local)
    return `must begin with https:// (plain http only where ${setting} is set, or to this machine in simulator mode)`
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  // The parser has converted 0x7f.1, 2130706433 and the like to their usual form.
  const host = hostOf(url)
  if (host.split('.').includes('')) return 'has a host name with an empty part'
  if (url.port === '0') return 'has the port 0'
  if (isIP(host) !== 0) return mayConnect(host, allowed) ? refusePort(url, allowed) : notPublic(host)
  if (allowed === true) return null
  if (!local && (localName.test(host) || !host.includes('.'))) return notPublic(host)
  return refusePort(url, allowed)
}

function refusePort({ port }: URL, allowed: Allowed): string | null {
  const number = Number(port || 443)
  if (allowed === true || number === 443 || number === 80) return null
  return number < 1024 || oddPorts.has(number) ? `has the port ${port}, which is not one for webhooks` : null
}

/**
 * The reason why a url may not be called, as the end of a sentence that begins with its name; null if it may. For
 * registrations: a name that does not resolve now is accepted, because every connection checks again.
 */
export async function refuseAddress(
  url: string,
  allowed: Allowed,
  resolve: Resolve = resolveByDns
): Promise<string | null> {
  const reason = refuseUrl(url, allowed)
  if (reason !== null) return reason
  const parsed = new URL(url)
  const host = hostOf(parsed)
  if (isIP(host) !== 0) return null
  const found = await inTime(resolve(host)).catch(() => [])
  const may = checkOf(allowed, parsed.protocol === 'http:')
  return found.every(({ address }) => may(address)) ? null : notPublic(host)
}

/** The addresses that a name may lead to. If plain http is allowed only to this machine, its names must lead there. */
const checkOf =
  (allowed: Allowed, plain: boolean) =>
  (address: string): boolean =>
    allowed === 'loopback' && plain ? isLoopback(address) : mayConnect(address, allowed)

const notPublic = (host: string) => `points to ${host}, which is not a public address (see the setting ${setting})`

/** The host without brackets and the dot of the root, which do not change where it leads. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** The error of a call whose name resolves to a forbidden address at the time of the connection. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/**
 * The look-up of a socket: it connects only to addresses that were checked here, so changing the address of a name
 * between the check and the connection has no effect. If one address of a name is forbidden, the whole name is refused.
 */
export const guardedLookup =
  (allowed: Allowed, resolve: Resolve, plain = false): LookupFunction =>
  (host, options, done) => {
    const may = checkOf(allowed, plain)
    inTime(resolve(host)).then(
      (found) => {
        const forbidden = found.find(({ address }) => !may(address))
        if (forbidden) return fail(new AddressRefused(`the url ${notPublic(host)}`))
        if (found.length === 0) return fail(new Error(`${host} has no address`))
        if (options.all) done(null, found)
        else done(null, found[0]!.address, found[0]!.family)
      },
      (error: Error) => fail(error)
    )
    // The type of a failed look-up demands an address all the same.
    const fail = (error: Error) => done(error, '', 0)
  }

/** Stops waiting after `resolveMs`, because the time-out of DNS itself is longer. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the name was not resolved in time')), resolveMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** One server of `DATABASE_URL`. */
export interface Host {
  /** The address of this server alone, as the driver reads it. */
  url: string
  /** Host and port for people. */
  name: string
  /** A name, an address, or the folder of a socket. */
  host: string
  port: number
}

const usualPort = '5432'
const most = 16
/** Parameters of the list, which the address of one server does not have. */
const ofTheList = ['host', 'port', 'target_session_attrs', 'load_balance_hosts']

/**
 * Reads the servers of an address, as in `postgres://user@h1:5432,h2:5432/db`: the driver knows only one host. Throws
 * the end of a sentence that begins with the name of the setting.
 */
export function readHosts(url: string): Host[] {
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?):\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(?:#.*)?$/i.exec(url) ?? []
  if (!scheme) throw new Error('must be an address that begins with postgres:// or postgresql://')
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, at + 1)
  const pairs = query.split('&').filter((pair) => pair !== '')
  checkSession(parameter(pairs, 'target_session_attrs'))
  const places = placesOf(authority.slice(at + 1), parameter(pairs, 'host'), parameter(pairs, 'port'))
  if (places.length === 1) {
    if (!URL.canParse(url)) throw new Error('must be an address, as in postgres://user@host:5432/database')
    return [{ url, ...described(places[0]!) }]
  }
  const kept = pairs.filter((pair) => !ofTheList.includes(nameOf(pair)))
  const hosts = places.map((place) => ({
    url: addressOf(place, { scheme, user, path, kept }),
    ...described(place)
  }))
  const wrong = hosts.find(({ url: one }) => !URL.canParse(one))
  if (wrong) throw new Error(`names ${wrong.name}, which is no host`)
  const names = hosts.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new Error(`names ${twice} twice`)
  return hosts
}

/** The servers and the database for people, without a password. */
export function databaseName(url: string): string {
  const path = /^\w+:\/\/[^/?#]*(\/[^?#]*)?/.exec(url)?.[1] ?? ''
  const hosts = readHosts(url)
  if (hosts.length > 1) return `${hosts.map(({ name }) => name).join(',')}${path}`
  const { hostname, port } = new URL(url)
  return `${hostname || 'local socket'}${port && `:${port}`}${path}`
}

interface Place {
  host: string
  port: string
}

function placesOf(authority: string, host: string | undefined, port: string | undefined): Place[] {
  const listed = host ? foldersOrNames(host) : authority.split(',')
  if (/%2c/i.test(authority)) throw new Error('must separate its hosts by a plain comma, not by %2C')
  if (listed.length > most) throw new Error(`names ${listed.length} hosts; it may name ${most}`)
  const places = listed.map((text) => (host ? { host: text, port: '' } : placeOf(text)))
  if (places.length > 1 && places.some((place) => place.host === ''))
    throw new Error('has an empty place in its list of hosts: remove the comma, or name the host')
  return withPorts(places, port)
}

/** A comma in the name of a folder separates nothing: in a list of folders, each begins with a slash. */
function foldersOrNames(host: string): string[] {
  const parts = host.split(',')
  return host.startsWith('/') && !parts.every((part) => part.startsWith('/')) ? [host] : parts
}

function placeOf(text: string): Place {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(text) ?? []
  if (host === '' && text.includes(':', 1))
    throw new Error(`names ${text}: write an IPv6 address in brackets, as in [::1]:5432`)
  return { host: decoded(host), port }
}

/** A port belongs to the host before it; `?port=` holds one for all hosts that name none, or one for each. */
function withPorts(places: Place[], given: string | undefined): Place[] {
  const ports = given?.split(',') ?? []
  if (ports.length > 1 && ports.length !== places.length)
    throw new Error(`names ${places.length} hosts and ${ports.length} ports: give one port for all, or one for each`)
  return places.map(({ host, port }, index) => {
    const own = port || ports[index] || (ports.length === 1 ? ports[0]! : '')
    const number = Number(own)
    if (own !== '' && (!/^\d+$/.test(own) || number < 1 || number > 65_535))
      throw new Error(`names the port ${own}: a port is a number from 1 to 65535`)
    return { host, port: own }
  })
}

function addressOf(
  { host, port }: Place,
  { scheme, user, path, kept }: { scheme: string; user: string; path: string; kept: string[] }
): string {
  const folder = host.startsWith('/')
  const query = [...(folder ? [`host=${encodeURIComponent(host)}`] : []), ...kept].join('&')
  return `${scheme}://${user}${folder ? 'localhost' : host}:${port || usualPort}${path}${query && `?${query}`}`
}

const described = ({ host, port }: Place) => ({
  name: `${host || 'local socket'}:${port || usualPort}`,
  host: host.replace(/^\[(.*)\]$/, '$1'),
  port: Number(port || usualPort)
})

function checkSession(wanted: string | undefined): void {
  if (wanted !== undefined && !['read-write', 'primary'].includes(wanted))
    throw new Error(`asks for target_session_attrs=${wanted}, but Tidings needs the server that takes writes`)
}

const nameOf = (pair: string) => decoded(pair.split('=', 1)[0]!)

function parameter(pairs: string[], name: string): string | undefined {
  const pair = pairs.findLast((one) => nameOf(one) === name)
  return pair === undefined ? undefined : decoded(pair.slice(pair.indexOf('=') + 1)) || undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`has a % that encodes no character: write %25 for a plain one`)
  }
}

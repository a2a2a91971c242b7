import { BlockList, isIP } from 'node:net'

/** The proxies whose X-Forwarded-* headers are trusted: a number of proxies, their networks, or none. */
export type TrustProxy = false | number | readonly string[]

const named: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}
const mostHops = 32

/**
 * `true` means one proxy, the safe reading: it gives the address that the nearest proxy saw, and no address that a
 * client sent.
 */
export function parseTrustProxy(text: string): TrustProxy {
  if (text === 'true') return 1
  if (text === 'false' || text === '0') return false
  if (/^\d+$/.test(text) && Number(text) <= mostHops) return Number(text)
  const networks = text.split(',').map((one) => one.trim())
  if (networks.every(isNetwork)) return networks
  throw new Error(
    `must be true or false, a number of proxies up to ${mostHops}, or a list of networks such as loopback,10.0.0.0/8`
  )
}

function isNetwork(text: string): boolean {
  if (Object.hasOwn(named, text)) return true
  const [address = '', bits, ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  return most > 0 && more.length === 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most))
}

export type Trusts = false | ((address: string | undefined, hop: number) => boolean)

/**
 * Whether the address `hop` proxies away is trusted: 0 is the connection itself, 1 the last address in X-Forwarded-For.
 * Addresses are counted from the right, because a client can write any address to the left.
 */
export function trusts(trust: TrustProxy): Trusts {
  if (trust === false) return false
  if (typeof trust === 'number') return (_, hop) => hop < trust
  const list = new BlockList()
  for (const network of trust.flatMap((one) => named[one] ?? [one])) {
    const [address = '', bits] = network.split('/')
    const [family, most] = isIP(address) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const)
    list.addSubnet(address, bits === undefined ? most : Number(bits), family)
  }
  return (address = '') => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** The nearest address that is not one of a trusted proxy, as Fastify finds it. */
export function addressOf(trust: Trusts, connected: string | undefined, forwardedFor = ''): string | undefined {
  if (!trust) return connected
  const claimed = forwardedFor.split(',').map((one) => one.trim())
  const addresses = [connected, ...claimed.filter((one) => one !== '').reverse()]
  const hop = addresses.findIndex((address, index) => !trust(address, index))
  return hop < 0 ? addresses.at(-1) : addresses[hop]
}

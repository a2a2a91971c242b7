import { BlockList, isIP } from 'node:net'

/**
 * IPv4 addresses that no public server has: IANA's special-purpose registry, multicast, reserved, and the addresses
 * that clouds use internally.
 */
const special4 = blocks('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The host's own services in one large cloud, on an address that looks public.
  '168.63.129.16/32'
])

/** Only this part of IPv6 is assigned to public servers … */
const global6 = blocks('ipv6', ['2000::/3'])
/**
 * … except for these: Teredo and other protocols, documentation, 6to4, AS112. All addresses that embed an IPv4 address
 * are here or outside.
 */
const special6 = blocks('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

/**
 * Addresses that are never called, even if private ones are allowed: those at which a cloud's metadata service returns
 * credentials, link-local and multicast addresses, and IPv6 addresses that embed an IPv4 address.
 */
const never = blocks('ipv4', ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'])
never.addSubnet('224.0.0.0', 3, 'ipv4')
never.addSubnet('fe80::', 10, 'ipv6')
never.addSubnet('ff00::', 8, 'ipv6')
never.addSubnet('fd00:ec2::', 32, 'ipv6')
never.addSubnet('64:ff9b::', 32, 'ipv6')
never.addSubnet('2002::', 16, 'ipv6')
never.addSubnet('2001::', 32, 'ipv6')

function blocks(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, prefix] = range.split('/')
    list.addSubnet(address!, Number(prefix), family)
  }
  return list
}

const loopback4 = blocks('ipv4', ['127.0.0.0/8'])

/** The addresses that may be called besides public ones: none, this machine, or private addresses too. */
export type Allowed = false | 'loopback' | true

/** This machine itself, in the two forms that mean nothing else. */
export const isLoopback = (address: string): boolean =>
  isIP(address) === 4 ? loopback4.check(address) : address === '::1'

/** Whether the host of a URL is this machine by its text: a loopback address, or a name below localhost (RFC 6761). */
export function isLocalHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return isLoopback(host) || /(?:^|\.)localhost$/.test(host)
}

/** Whether a connection to an address, in the form of DNS or a URL, is allowed. Text that is no address is not. */
export function mayConnect(address: string, allowed: Allowed): boolean {
  const plain = address.replace(/%.*$/s, '')
  const version = isIP(plain)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (allowed === true) return !never.check(plain, family)
  if (allowed === 'loopback' && isLoopback(address)) return true
  return version === 4 ? !special4.check(plain) : global6.check(plain, family) && !special6.check(plain, family)
}

import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3]
] as const)
  special.addSubnet(network, prefix, 'ipv4')

/** Only what was given out for the Internet: everything else of IPv6 is special, mapped IPv4 included. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16]
] as const)
  special.addSubnet(network, prefix, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Resolves names as usual and answers only public addresses. Checked here, because a name may change its mind. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const allowed = error ? [] : found.filter(({ address }) => isPublicAddress(address))
    if (error) done(error, '', 0)
    else if (allowed.length === 0) done(new Error(`${hostname} has no public address`), '', 0)
    else if (options.all) done(null, allowed)
    else done(null, allowed[0]!.address, allowed[0]!.family)
  })
}

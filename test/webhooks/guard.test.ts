import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mayConnect } from '../../src/platform/net/addresses.ts'
import { type Resolve, refuseAddress, refuseUrl } from '../../src/platform/net/guard.ts'

/** A DNS that knows these names and no others. */
const dns =
  (names: Record<string, string[]>): Resolve =>
  async (host) => {
    const found = names[host]
    if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }

const publicOnes = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.1.1'
]
  .concat(['172.15.255.255', '172.32.0.1', '192.0.1.1', '192.167.1.1', '198.17.1.1', '198.20.0.1', '223.255.255.254'])
  .concat([
    '11.0.0.1',
    '192.169.0.1',
    '168.63.129.15',
    '2606:4700:4700::1111',
    '2a00:1450:4001::200e',
    '2001:4860:4860::8888'
  ])

const forbiddenOnes = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.0.1'],
  ...['192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '2001::1', '2001:0:4136:e378::1', '2001:10::1'],
  ...['2001:20::1', '2001:db8::1', '2002:7f00:1::1', '2002:808:808::1', '2620:4f:8000::1', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
  ...['', 'localhost', '1.2.3', '1.2.3.4.5', '999.1.1.1', '::g']
]

describe('the guard of addresses', () => {
  it('lets public ones pass', () => {
    assert.deepEqual(
      publicOnes.filter((address) => !mayConnect(address, false)),
      []
    )
  })

  it('refuses private, loopback, link-local, shared, multicast, reserved, metadata and embedding ones', () => {
    assert.deepEqual(
      forbiddenOnes.filter((address) => mayConnect(address, false)),
      []
    )
  })

  it('lets private ones pass where the setting says so, but never metadata services, link-local or multicast', () => {
    const allowed = ['127.0.0.1', '10.1.2.3', '192.168.1.1', '172.20.0.2', '::1', 'fd12::1', '::ffff:127.0.0.1']
    assert.deepEqual(
      allowed.filter((address) => !mayConnect(address, true)),
      []
    )
    const still = [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      'fe80::1',
      'fd00:ec2::254',
      '100.100.100.200',
      'ff02::1'
    ]
    assert.deepEqual(
      [...still, '224.0.0.1', '255.255.255.255', '168.63.129.16', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1'].filter(
        (address) => mayConnect(address, true)
      ),
      []
    )
  })
})

describe('the guard of urls', () => {
  const fine = [
    'https://example.com/hook',
    'https://example.com:8443/hook?a=b#c',
    'https://EXAMPLE.com./hook',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/'
  ]
  for (const url of fine) {
    it(`accepts ${url}`, () => assert.equal(refuseUrl(url, false), null))
  }

  const refused: [url: string, reason: RegExp][] = [
    ['http://example.com/', /https.*WEBHOOK_ALLOW_PRIVATE/],
    ['ftp://example.com/', /must begin with https/],
    ['file:///etc/passwd', /must begin with https/],
    ['javascript:alert(1)', /must begin with https/],
    ['//example.com/', /not a url/],
    ['example.com', /not a url/],
    ['', /not a url/],
    ['https://', /not a url/],
    ['https://user@example.com/', /user name/],
    ['https://user:secret@example.com/', /user name/],
    ['https://:secret@example.com/', /user name/],
    ['https://example.com@127.0.0.1/', /user name/],
    ['https://exa\tmple.com/', /control/],
    ['https://example.com/a\nb', /control/],
    [' https://example.com/', /space/],
    ['https://example.com\\@127.0.0.1/', /backslash/],
    ['https://example.com:0/', /port 0/],
    ['https://example.com:22/', /port 22/],
    ['https://example.com:25/', /port 25/],
    ['https://example.com:6667/', /port 6667/],
    ['https://example.com:65536/', /not a url/],
    ['https://localhost/', /not a public address/],
    ['https://LOCALHOST/', /not a public address/],
    ['https://localhost./', /not a public address/],
    ['https://api.localhost/', /not a public address/],
    ['https://printer.local/', /not a public address/],
    ['https://metadata.google.internal/', /not a public address/],
    ['https://metadata/', /not a public address/],
    ['https://db.localdomain/', /not a public address/],
    ['https://router.home.arpa/', /not a public address/],
    ['https://example..com/', /empty part/],
    ['https://example.com../', /empty part/],
    ['https://127.0.0.1/', /not a public address/],
    ['https://127.1/', /not a public address/],
    ['https://127.0.0.1./', /not a public address/],
    ['https://2130706433/', /not a public address/],
    ['https://0177.0.0.1/', /not a public address/],
    ['https://0x7f.0.0.1/', /not a public address/],
    ['https://0x7f000001/', /not a public address/],
    ['https://017700000001/', /not a public address/],
    ['https://%31%32%37.0.0.1/', /not a public address/],
    ['https://１２７.0.0.1/', /not a public address/],
    ['https://127。0。0。1/', /not a public address/],
    ['https://①②⑦.⓪.⓪.①/', /not a public address/],
    ['https://0/', /not a public address/],
    ['https://0.0.0.0/', /not a public address/],
    ['https://10.0.0.1/', /not a public address/],
    ['https://169.254.169.254/latest/meta-data/', /not a public address/],
    ['https://2852039166/', /not a public address/],
    ['https://192.168.1.1/', /not a public address/],
    ['https://[::1]/', /not a public address/],
    ['https://[::]/', /not a public address/],
    ['https://[0:0:0:0:0:0:0:1]/', /not a public address/],
    ['https://[::ffff:127.0.0.1]/', /not a public address/],
    ['https://[::ffff:7f00:1]/', /not a public address/],
    ['https://[::127.0.0.1]/', /not a public address/],
    ['https://[64:ff9b::127.0.0.1]/', /not a public address/],
    ['https://[2002:7f00:1::]/', /not a public address/],
    ['https://[2001:0:7f00:1::]/', /not a public address/],
    ['https://[fe80::1]/', /not a public address/],
    ['https://[fd00::1]/', /not a public address/],
    ['https://[fe80::1%25eth0]/', /not a url/],
    ['https://[fe80::1%eth0]/', /not a url/],
    [`https://example.com/${'a'.repeat(2048)}`, /longer than 2048/]
  ]
  for (const [url, reason] of refused) {
    it(`refuses ${JSON.stringify(url).slice(0, 60)}`, async () => {
      assert.match(refuseUrl(url, false) ?? 'accepted', reason)
      assert.match((await refuseAddress(url, false, dns({}))) ?? 'accepted', reason)
    })
  }

  it('accepts plain http and local names where private addresses are allowed, but no user names and no metadata', () => {
    for (const url of ['http://localhost:3000/', 'http://127.0.0.1:22/', 'https://[::1]:8443/', 'http://receiver:80/'])
      assert.equal(refuseUrl(url, true), null, url)
    for (const url of ['http://a:b@localhost/', 'http://169.254.169.254/', 'ftp://localhost/', 'http://localhost:0/'])
      assert.notEqual(refuseUrl(url, true), null, url)
  })
})

describe('at registration', () => {
  const names = dns({
    'good.example': ['93.184.216.34', '2606:2800:220:1::1'],
    'inner.example': ['10.0.0.7'],
    'half.example': ['93.184.216.34', '127.0.0.1'],
    'mapped.example': ['::ffff:10.0.0.1']
  })

  it('a name is looked up, and every one of its addresses must be public', async () => {
    assert.equal(await refuseAddress('https://good.example/', false, names), null)
    for (const name of ['inner', 'half', 'mapped'])
      assert.match(
        (await refuseAddress(`https://${name}.example/`, false, names))!,
        /not a public.*WEBHOOK_ALLOW_PRIVATE/
      )
    assert.equal(await refuseAddress('https://inner.example/', true, names), null)
  })

  it('a name that does not resolve is accepted, because every connection looks again', async () => {
    assert.equal(await refuseAddress('https://later.example/', false, names), null)
  })

  it('a DNS that never answers is not waited for', async () => {
    assert.equal(await refuseAddress('https://slow.example/', false, () => new Promise(() => {})), null)
  })
})

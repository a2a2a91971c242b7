import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { changesOf } from '../../src/cli/upgrade/changes.ts'
import { builtConcurrently, readMigration } from '../../src/platform/db/migrations.ts'
import { root } from '../support/program.ts'

// The rules are in CONTRIBUTING.md, under "A migration".

/** The files that installations may have applied, as `sha256sum migrations/*.sql` prints them. A release adds its own. */
const released = new Map(
  readFileSync(join(import.meta.dirname, 'released.txt'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/\s+/) as [string, string])
    .map(([sum, path]) => [path.replace('migrations/', ''), sum])
)
const folder = join(root, 'migrations')
const files = readdirSync(folder)
  .sort()
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))

/** The violations of the rules in one file. */
function faults(text: string): string[] {
  const migration = readMigration('0000-test', text)
  const secondStep = /^-- Second step: \S/m.test(text)
  return [
    ...changesOf(migration).flatMap(({ does, waiting, breaks }) => {
      const allowed = !migration.beside || (secondStep && does.startsWith('drops '))
      return [
        ...(waiting === 'writes' || waiting === 'table' ? [`${does}: others wait for it`] : []),
        ...(breaks && !allowed ? [`${does}: older nodes cannot run beside it, ${breaks}`] : [])
      ]
    }),
    ...migration.statements
      .filter((statement) => /\bconcurrently\b/i.test(statement) === migration.inTransaction)
      .map((statement) => `${statement}: "Without a transaction" is for what is concurrent, and only for that`),
    ...(migration.inTransaction ? [] : migration.statements)
      .filter((statement) => builtConcurrently(statement) === undefined)
      .map((statement) => `${statement}: cannot be repeated`)
  ]
}

describe('migrations', () => {
  it('that were released are unchanged', () => {
    const now = new Map(files.map(({ file, text }) => [file, createHash('sha256').update(text).digest('hex')]))
    for (const [file, sum] of released) assert.equal(now.get(file), sum, file)
    assert.ok(released.size >= 38)
  })

  it('have numbers of their own', () => {
    const numbers = files.map(({ file }) => file.slice(0, 4))
    assert.equal(new Set(numbers).size, numbers.length)
    for (const { file } of files) assert.match(file, /^\d{4}-[a-z0-9-]+\.sql$/)
  })

  it('lock no table for long, and let older nodes run beside them', () => {
    const unreleased = files.filter(({ file }) => !released.has(file))
    assert.deepEqual(
      unreleased.flatMap(({ file, text }) => faults(text).map((fault) => `${file}: ${fault}`)),
      []
    )
  })
})

describe('the rules for migrations', () => {
  it('accept what is additive', () => {
    for (const text of [
      'create table notes (project_id text not null, id uuid not null);\ncreate index notes_id on notes (project_id, id);\nalter table notes add column body text not null;',
      'alter table users add column nickname text;',
      `alter table users add column state text not null default 'new';`,
      'alter table users add column counted boolean not null default false,\n  add column places int[];',
      'alter table users alter column project_user_id drop not null;',
      'alter table triggers drop constraint triggers_state_check;',
      '-- Without a transaction: users may have many rows.\ncreate index concurrently if not exists users_nick on users (project_id, nickname);',
      '-- Second step: nothing has used it since 0.3.0.\nalter table users drop column nickname;',
      '-- Stop older nodes first: they write the old name.\nalter table users rename column nickname to handle;'
    ])
      assert.deepEqual(faults(text), [], text)
  })

  it('refuse what locks for long, or what older nodes cannot run beside', () => {
    for (const text of [
      'create index users_nick on users (project_id, nickname);',
      'create index concurrently if not exists users_nick on users (project_id, nickname);',
      '-- Without a transaction: for speed.\nalter table users add column nickname text;',
      '-- Without a transaction: many rows.\ncreate index concurrently users_nick on users (project_id, nickname);',
      'alter table users add column nickname text not null;',
      'alter table users add column seen timestamptz default clock_timestamp();',
      'alter table users add column number bigserial;',
      'alter table users add column nickname text unique;',
      'alter table users alter column nickname set not null;',
      'alter table users alter column age type bigint;',
      'alter table users rename column nickname to handle;',
      'alter table users rename to people;',
      'alter table users drop column nickname;',
      'alter table users add column a text, drop column nickname;',
      'alter table users add constraint short check (length(nickname) < 10);',
      'drop table users;',
      `update users set nickname = 'x';`,
      'delete from users;',
      '-- Second step: nothing has used it since 0.3.0.\nalter table users alter column age type bigint;',
      'truncate users;'
    ])
      assert.notDeepEqual(faults(text), [], text)
  })
})

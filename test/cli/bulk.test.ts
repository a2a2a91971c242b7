import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ranBinary, startService, temporaryFolder } from './service.ts'

/** More than one request of the import takes (2 MiB). */
const count = 5_000

test('users are imported and exported in bulk', async (t) => {
  const { tidings, feed, dataDir } = await startService(t)
  const folder = await temporaryFolder(t)
  const file = join(folder, 'users.ndjson')
  await tidings('project', 'create', 'Copy', '--id', 'copy')

  await t.test('a file of 5,000 users is imported completely, in several requests', async () => {
    const lines = Array.from({ length: count }, (_, at) =>
      JSON.stringify({ project_user_id: `user-${at}`, properties: { at, name: `Ünï ${at}`, padding: 'x'.repeat(500) } })
    )
    await writeFile(file, `${lines.join('\n')}\n`)
    const ran = await tidings('user', 'import', file)
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, 'imported 5,000, failed 0\n', ''])
  })

  await t.test('importing an export into another project gives an equal export', async () => {
    const out = join(folder, 'out.ndjson')
    await tidings('user', 'delete', 'demo-user', '--yes')
    const exported = await tidings('user', 'export', '-o', out, '--json')
    const { users, bytes } = exported.json<{ users: number; bytes: number }>()
    const { size, mode } = await stat(out)
    assert.deepEqual([users, bytes, mode & 0o777], [count, size, 0o600])
    const copied = await tidings('user', 'import', out, '-p', 'copy', '--json')
    assert.deepEqual(copied.json(), { imported: count, failed: 0, errors: [] })

    // Runs the binary: all its output arrives in the pipe, although the process ends at once.
    const again = await ranBinary(['user', 'export', '-p', 'copy'], { env: { DATA_DIR: dataDir } })
    assert.deepEqual(peopleIn(again.stdout), peopleIn(await readFile(out, 'utf8')))
  })

  await t.test('refused lines are reported by number, and the others are imported', async () => {
    const lines = [
      '{"project_user_id":"good-1"}',
      'not json',
      '',
      '{"project_user_id":7}',
      '{"project_user_id":"good-2"}'
    ]
    const input = lines.join('\r\n')
    const ran = await ranBinary(['user', 'import', '-'], { env: { DATA_DIR: dataDir }, input })
    assert.equal(ran.code, 1)
    assert.equal(ran.stdout, 'imported 2, failed 2\n')
    assert.match(ran.stderr, /^ {2}line 2: .*\n {2}line 4: project_user_id: /)
    assert.equal((await tidings('user', 'get', 'good-2')).code, 0)
  })

  await t.test('a fault that many lines share, as in a YAML file, is reported once', async () => {
    const ran = await feed(
      '- project_user_id: ana\n  properties:\n    plan: free\n    age: 3\n- bo\n',
      'user',
      'import',
      '-'
    )
    assert.equal(ran.code, 1)
    assert.equal(ran.stderr.trim().split('\n').length, 1, ran.stderr)
    assert.match(ran.stderr, /lines 1, 2, 3 and 2 more: must be a JSON object such as \{"project_user_id":"ana"/)
  })

  await t.test('line numbers count from the start of the file, also far into it', async () => {
    const long = JSON.stringify({ project_user_id: 'long', properties: { text: 'x'.repeat(50_000) } })
    const lines = [...Array.from({ length: 100 }, () => long), '{"project_user_id":7}', long]
    const ran = await feed(`${lines.join('\n')}\n`, 'user', 'import', '-', '--json')
    assert.equal(ran.code, 1)
    const { imported, failed, errors } = ran.json<{ imported: number; failed: number; errors: { line: number }[] }>()
    assert.deepEqual([imported, failed, errors.map(({ line }) => line)], [101, 1, [101]])
  })

  await t.test('a file that is not JSON lines is refused with the reason', async () => {
    const endless = await feed('x'.repeat(1_200_000), 'user', 'import', '-')
    assert.equal(endless.code, 1)
    assert.match(endless.stderr, /^Line 1 is longer than 1 MiB/)
    assert.match((await tidings('user', 'import', join(folder, 'none'))).stderr, /^The file \S+ does not exist\./)
    assert.match((await tidings('user', 'import', folder)).stderr, /is a folder/)
    assert.equal((await feed('', 'user', 'import', '-')).stdout, 'imported 0, failed 0\n')
  })

  await t.test('a failed export leaves no file', async () => {
    const before = await readdir(folder)
    assert.equal((await tidings('user', 'export', '-o', folder)).code, 1)
    assert.match((await tidings('user', 'export', '-o', join(folder, 'no/where'))).stderr, /no such file or directory/)
    assert.equal((await tidings('user', 'export', '-p', 'nope', '-o', join(folder, 'new'))).code, 3)
    assert.equal((await tidings('user', 'export', '--json')).code, 2)
    assert.deepEqual(await readdir(folder), before)
  })
})

function peopleIn(lines: string): string[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { project_user_id, properties } = JSON.parse(line)
      return JSON.stringify({ project_user_id, properties })
    })
    .sort()
}

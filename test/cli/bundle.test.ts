import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cache, findBundle, markOf } from '../../bin/bundle.js'
import { outputOf } from '../support/children.ts'
import { migratedDatabase } from '../support/database.ts'
import { root, startProgram, temporaryFolder } from '../support/program.ts'

// In a process of its own, because bundling takes as long as many other files together.

test('the bundle of this checkout serves, with the files that lie beside the sources', async (t) => {
  // `npm install` made it, unless a source was changed since.
  await outputOf(t, process.execPath, ['scripts/bundle.ts'], { cwd: root })
  const entry = findBundle(root)
  assert.ok(entry)
  const app = globSync('app-*.mjs', { cwd: dirname(fileURLToPath(entry)) }).map((name) => new URL(name, entry))
  for (const file of app) assert.match(await readFile(file, 'utf8'), /^[\x00-\x7f]+$/, 'half the memory')
  const { url: database } = await migratedDatabase(t)
  const service = startProgram(t, { DATA_DIR: join(await temporaryFolder(t), 'data'), DATABASE_URL: database })
  const url = await service.ready
  for (const path of ['/readyz', '/openapi.json', '/docs/', '/sdk/tidings.js', '/version'])
    assert.equal((await fetch(url + path)).status, 200, path)
  const refused = await fetch(`${url}/api/v1/users/%zz`)
  assert.deepEqual([refused.status, await refused.text()], [401, 'Missing project id'], 'as the sources do')
  const loaded = await readFile(`/proc/${service.pid}/cmdline`, 'utf8')
  assert.match(loaded, /bin\/tidings\.js/)
  assert.match(service.stdout(), /npm run tidings/)
})

/** A checkout of one source file, with a bundle of it. */
async function bundled(t: TestContext): Promise<{ folder: string; source: string; entry: string }> {
  const folder = await temporaryFolder(t)
  const place = join(folder, cache, '0123456789abcdef')
  await mkdir(join(folder, 'src'), { recursive: true })
  await mkdir(place, { recursive: true })
  const source = join(folder, 'src', 'main.ts')
  const entry = join(place, 'main.mjs')
  await writeFile(source, 'source')
  await writeFile(entry, 'export const fault = () => new Error("no")\n')
  const files = ['src/main.ts']
  const made = { root: folder, name: '0123456789abcdef', files, mark: markOf(folder, files) }
  await writeFile(join(folder, cache, 'current.json'), JSON.stringify(made))
  return { folder, source, entry }
}

test('a bundle is used until a source changes', async (t) => {
  const { folder, source, entry } = await bundled(t)
  assert.equal(findBundle(folder), pathToFileURL(entry).href)
  await utimes(source, 1, 1)
  assert.equal(findBundle(folder), undefined, 'another time')
})

test('a bundle is not used for a missing source, in another folder, or in part', async (t) => {
  const { folder, source, entry } = await bundled(t)
  const pointer = join(folder, cache, 'current.json')
  const text = await readFile(pointer, 'utf8')
  await writeFile(pointer, text.replace(folder, '/elsewhere'))
  assert.equal(findBundle(folder), undefined, 'made elsewhere')
  await writeFile(pointer, text.slice(0, -10))
  assert.equal(findBundle(folder), undefined, 'half a file')
  await writeFile(pointer, text)
  assert.ok(findBundle(folder))
  await rm(entry)
  assert.equal(findBundle(folder), undefined, 'no entry')
  await rm(source)
  assert.equal(findBundle(folder), undefined, 'no source')
})

test('stack traces name the sources', async (t) => {
  const { entry, source } = await bundled(t)
  const map = { version: 3, sources: ['../../../../src/main.ts'], names: [], mappings: 'AAUA' }
  await writeFile(`${entry}.map`, JSON.stringify(map))
  const program = `
    import { nameSources } from ${JSON.stringify(join(root, 'bin/bundle.js'))}
    const entry = ${JSON.stringify(pathToFileURL(entry).href)}
    nameSources(entry)
    const { fault } = await import(entry)
    console.log(fault().stack)`
  const said = await outputOf(t, process.execPath, ['--input-type=module', '--eval', program], {})
  assert.match(said, /^Error: no\n/)
  assert.ok(said.includes(`${pathToFileURL(source).href}:11:`), said)
})

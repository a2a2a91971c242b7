import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { emptyDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { root, startProgram, temporaryFolder } from '../support/program.ts'

/** Creates a checkout whose node_modules lacks the packages that match. */
async function checkoutWithout(t: TestContext, missing: RegExp): Promise<string> {
  const checkout = await temporaryFolder(t)
  for (const name of ['bin', 'migrations', 'package.json', 'package-lock.json', 'src', 'test', 'tsconfig.json'])
    await cp(join(root, name), join(checkout, name), { recursive: true })
  const modules = join(root, 'node_modules')
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name]
  )
  for (const name of names.filter((one) => !one.startsWith('.') && !missing.test(one))) {
    const place = join(checkout, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    // These two are copied: through a link they would find the native package beside their originals.
    if (/^(vite|rolldown)$/.test(name)) await cp(join(modules, name), place, { recursive: true })
    else await symlink(join(modules, name), place)
  }
  return checkout
}

const cases = [
  {
    name: 'an install without the packages that build it',
    missing: /^vite$/,
    sentence:
      'The console is not built, because this install lacks the packages that build it: run npm install, then start again.'
  },
  {
    name: "an install without this machine's native package of the bundler",
    missing: /^@rolldown\/binding-/,
    sentence:
      `The console is not built, because the bundler's native package for ${process.platform}-${process.arch} is not ` +
      'installed: remove node_modules, run npm install, then start again.'
  }
]

// The second case takes as long as the first and leads to the same place: TIDINGS_LONG=1 runs it too.
for (const { name, missing, sentence } of process.env.TIDINGS_LONG ? cases : cases.slice(0, 1))
  test(`every machine: ${name} is reported in one sentence in the log and on the console page`, async (t) => {
    const checkout = await checkoutWithout(t, missing)
    const { url: database } = await emptyDatabase(t)
    const env = { DATABASE_URL: database, DATA_DIR: join(checkout, 'data') }
    const program = startProgram(t, env, [process.execPath, join(checkout, 'bin/tidings.js'), 'serve'])
    const url = await program.ready
    await eventually(async () => {
      const page = await (await fetch(`${url}/console/`)).text()
      assert.ok(page.includes(`<p>${sentence} The API works without it.</p>`), page)
    }, 60_000)
    const lines = program.stderr().trim().split('\n')
    assert.deepEqual(
      lines.filter((line) => /console|vite|rolldown/i.test(line)).map((line) => JSON.parse(line).msg),
      [sentence]
    )
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
  })

test('every machine: the test runner reports a console that cannot be built first, and exits', async (t) => {
  const checkout = await checkoutWithout(t, cases[0]!.missing)
  const runner = startProgram(t, {}, [process.execPath, join(checkout, 'test/run.ts')])
  assert.equal((await runner.exited).code, 1)
  assert.equal(runner.stderr(), `${cases[0]!.sentence}\n`)
  assert.equal(runner.stdout(), '')
})

test('every machine: an install without development dependencies contains every package that builds the console', async () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = globSync('src/console/page/**/*.{ts,tsx}', { cwd: root })
  const imported = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import|import\()\s*'((?:@[\w-]+\/)?\w[\w-]*)[/']/g)
    ].map(([, name]) => name!)
  )
  assert.ok(imported.includes('vite') && imported.includes('react'))
  assert.deepEqual(
    [...new Set(imported)].filter((name) => !(name in manifest.dependencies)),
    []
  )
})

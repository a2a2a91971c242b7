import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { it } from 'node:test'

const src = resolve(import.meta.dirname, '../src')
const textOf = (file: string) => readFileSync(resolve(src, file), 'utf8')

/** It seals a cookie of ten minutes, which a change of the key may invalidate. */
const inCookie = 'members/oidc/attempt.ts'

it('every column of sealed texts is registered, so that a change of the master key finds them', () => {
  const sources = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'))
  const sealing = sources.filter((file) => /import \{[^}]*\bseal\b[^}]*\} from '[^']*secrets\.ts'/.test(textOf(file)))
  const registered = new Set(
    sources.filter((file) => /^sealedColumn\(/m.test(textOf(file))).map((file) => dirname(file))
  )
  assert.ok(sealing.length >= 3, 'they are found')
  assert.deepEqual(
    sealing.filter((file) => !registered.has(dirname(file)) && file !== inCookie),
    []
  )
})

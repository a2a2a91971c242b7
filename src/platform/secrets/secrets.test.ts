import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { masterKey, open, seal } from './secrets.ts'

const key = Buffer.alloc(32, 1)

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('sealed secrets', () => {
  it('open with their key and context, and look different each time', () => {
    assert.equal(open(key, 'apns', seal(key, 'apns', 'sécret')), 'sécret')
    assert.notEqual(seal(key, 'apns', 'x'), seal(key, 'apns', 'x'))
    assert.ok(!seal(key, 'apns', 'plain text').includes('plain'))
  })

  it('do not open with another key, another context, or a bit changed', () => {
    const sealed = seal(key, 'apns', 'secret')
    assert.throws(() => open(Buffer.alloc(32, 2), 'apns', sealed))
    assert.throws(() => open(key, 'fcm', sealed))
    const bytes = Buffer.from(sealed.slice(3), 'base64')
    bytes[bytes.length - 1]! ^= 1
    assert.throws(() => open(key, 'apns', `v1.${bytes.toString('base64')}`))
    assert.throws(() => open(key, 'apns', 'v1.'))
  })
})

describe('the master key', () => {
  it('is made once, readable by its owner only, also by starts at the same time', async (t) => {
    const dataDir = join(await folder(t), 'new')
    const keys = await Promise.all(Array.from({ length: 5 }, () => masterKey(undefined, dataDir, async () => false)))
    assert.equal(new Set(keys.map((each) => each.toString('hex'))).size, 1)
    assert.equal(keys[0]!.length, 32)
    assert.equal((await stat(join(dataDir, 'master.key'))).mode & 0o777, 0o600)
  })

  it('given by the operator wins, and a broken file is named', async (t) => {
    const dataDir = await folder(t)
    await writeFile(join(dataDir, 'master.key'), 'nonsense')
    assert.equal(await masterKey(key, dataDir, async () => true), key)
    await assert.rejects(
      masterKey(undefined, dataDir, async () => false),
      /master\.key does not hold a key/
    )
  })
})

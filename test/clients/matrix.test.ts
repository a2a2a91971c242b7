import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { printMatrix, readClients, steps } from './matrix.ts'

describe('docs/reference/agent-clients.md', () => {
  it('is what npm run test:clients found', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/reference/agent-clients.md'), 'utf8')
    assert.equal(page, printMatrix(await readClients()))
  })

  it('names exact versions, and a reason for each step that a client cannot do', async () => {
    for (const { name, packages, passes, note } of await readClients()) {
      for (const version of Object.values(packages)) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
      assert.ok(passes.every((step) => steps.includes(step)))
      assert.ok(note !== '', name)
    }
  })
})

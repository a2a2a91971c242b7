import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { paste } from '../support/program.ts'
import { startService } from '../support/service.ts'

describe('docs/agents.md', () => {
  it('shows lines that work when pasted', async (t) => {
    const service = await startService()
    const project = await service.project()
    const page = await readFile(join(import.meta.dirname, '../../docs/agents.md'), 'utf8')
    const lines = page.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(lines.length, 5)
    for (const line of lines) {
      const here = line.replace('http://127.0.0.1:8080', service.url)
      const said = await paste(t, `KEY='${project.secretKey}'; ${here}`)
      const [first] = said.split('\n').map((one) => one.replace(/^data: /, ''))
      const answered = JSON.parse(first!)
      assert.ok(answered.result ?? answered.name, `${here}\n${said}`)
    }
  })
})

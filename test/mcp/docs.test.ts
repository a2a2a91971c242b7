import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { docsPages } from '../../src/mcp/docs-pages.ts'
import { paste } from '../support/program.ts'
import { startService } from '../support/service.ts'

describe('docs/guides/mcp.md', async () => {
  const service = await startService()
  const project = await service.project()
  const page = await readFile(join(import.meta.dirname, '../../docs/guides/mcp.md'), 'utf8')

  it('shows a line that works when pasted, and configurations that are JSON', async (t) => {
    const [line, ...more] = page.split('\n').filter((one) => one.startsWith('curl '))
    assert.deepEqual(more, [])
    const here = line!.replace('http://127.0.0.1:8080', service.url)
    const said = await paste(t, `SECRET_KEY='${project.secretKey}'; ${here}`)
    assert.ok(JSON.parse(/^data: (.*)$/m.exec(said)![1]!).result.tools.length > 4, said)
    for (const [, text] of page.matchAll(/^```json\n(.*?)^```/gms)) assert.ok(JSON.parse(text!).mcpServers.tidings)
  })

  it('names every page of the docs that is a resource', () => {
    const names = docsPages.map(({ name }) => `\`${name}\``).join(', ')
    assert.ok(page.includes(`pages of these docs: ${names} |`), names)
  })
})

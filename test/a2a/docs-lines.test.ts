import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { paste } from '../support/program.ts'
import { startService } from '../support/service.ts'

describe('docs/guides/agents.md', async () => {
  const cardKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  const service = await startService({ A2A_CARD_KEY: cardKey.toString() })
  const project = await service.project()
  const page = await readFile(join(import.meta.dirname, '../../docs/guides/agents.md'), 'utf8')

  it('shows lines that work when pasted', async (t) => {
    const lines = page.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(lines.length, 5)
    for (const line of lines) {
      const here = line.replace('http://127.0.0.1:8080', service.url)
      const said = await paste(t, `SECRET_KEY='${project.secretKey}'; ${here}`)
      const [first] = said.split('\n').map((one) => one.replace(/^data: /, ''))
      const answered = JSON.parse(first!)
      assert.ok(answered.result ?? answered.name, `${here}\n${said}`)
    }
  })

  it('shows programs that work: one for each version of the SDK, and one that verifies a card', async () => {
    const examples = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text]) => text!)
    assert.equal(examples.length, 3)
    for (const [index, example] of examples.entries()) {
      // Both versions are here, the older under another name.
      const library = index === 1 ? 'a2a-sdk-03' : '@a2a-js/sdk'
      const script = stripTypeScriptTypes(
        example
          .replace(/^import (\{.*\}) from '@a2a-js\/sdk(.*)'$/gm, `const $1 = await load('${library}$2')`)
          .replace('http://127.0.0.1:8080', service.url)
          .replace('process.env.SECRET_KEY!', `'${project.secretKey}'`)
      )
      const said: Json[] = []
      const AsyncFunction = (async () => {}).constructor as new (
        ...args: string[]
      ) => (...args: unknown[]) => Promise<void>
      const run = new AsyncFunction('load', 'console', script)
      await run((name: string) => import(name), { log: (value: Json) => said.push(value) })
      assert.equal(index < 2 ? said[0].artifacts[0].name : said[0].name, index < 2 ? 'user-result' : 'Tidings Agent')
    }
  })
})

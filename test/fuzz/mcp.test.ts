import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listActions } from '../../src/a2a/a2a.ts'
import fc from '../support/fuzz.ts'
import { ask, type Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

// TIDINGS_LONG=1 sends twenty thousand requests.
const runs = process.env.TIDINGS_LONG ? 20_000 : 200
const service = await startService()
const project = await service.project({ limits: { requests_per_second: 0 } })

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}
const anything = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom<Json>('\u0000', '\ud800', 'x'.repeat(5000), 1e308, -0, '__proto__', '😀') }
) as fc.Arbitrary<Json>
const maybe = (value: fc.Arbitrary<Json>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: anything })
const odd = (shape: Record<string, fc.Arbitrary<Json>>) => fc.record(shape, { requiredKeys: [] }) as fc.Arbitrary<Json>
const names = new Set(listActions().flatMap(({ input }) => Object.keys(input.properties)))
const args = odd(Object.fromEntries([...names, 'idempotencyKey', '__proto__'].map((name) => [name, anything])))
const message = maybe(
  odd({
    jsonrpc: fc.constant('2.0'),
    id: maybe(fc.integer()),
    method: maybe(
      fc.constantFrom('tools/call', 'tools/list', 'resources/read', 'resources/list', 'initialize', 'server/discover')
    ),
    params: maybe(
      odd({
        _meta: maybe(fc.constant(meta)),
        name: maybe(fc.constantFrom(...listActions().map(({ id }) => id))),
        uri: maybe(fc.constantFrom('tidings://campaigns', 'tidings://triggers/x', 'tidings://docs/mcp')),
        arguments: maybe(args),
        protocolVersion: maybe(fc.constant('2025-11-25')),
        clientInfo: maybe(fc.constant({ name: 'fuzz', version: '1' })),
        capabilities: maybe(fc.constant({}))
      })
    )
  })
)

const inHeader = (value: unknown): string => (typeof value === 'string' && /^[!-~]{1,100}$/.test(value) ? value : 'x')

describe('POST /mcp, with anything in its body', () => {
  it('has a response below 500 for every message, and a fault of the service for none', async () => {
    await fc.assert(
      fc.asyncProperty(message, fc.boolean(), async (body, current) => {
        const named = body?.params?.name ?? body?.params?.uri
        const modern = {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': inHeader(body?.method),
          'mcp-name': inHeader(named)
        }
        const reply = await ask(service.url, 'POST', '/mcp', {
          body: JSON.stringify(body) ?? '',
          headers: {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            'x-api-key': project.secretKey,
            ...(current && modern)
          }
        })
        assert.ok(reply.status < 500, reply.text)
        assert.doesNotMatch(reply.text, /-32603/)
      }),
      { numRuns: runs }
    )
  })
})

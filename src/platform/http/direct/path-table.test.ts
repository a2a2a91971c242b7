import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pathTable } from './path-table.ts'

const table = pathTable<string>()
table.add('POST', '/users', 'users')
table.add('POST', '/campaigns/:campaign_id(^[\\s\\S]*?)::trigger', 'trigger')
table.add('GET', '/campaigns/:campaign_id/texts', 'texts')
const at = (method: string, path: string) => {
  const found = table.find(method, path)
  return found && [found.route, { ...found.params }]
}

describe('0083: a path of the usual form has a direct route', () => {
  it('finds a path without a parameter', () => {
    assert.deepEqual(at('POST', '/users'), ['users', {}])
    assert.equal(at('GET', '/users'), undefined)
    assert.equal(at('POST', '/users/'), undefined)
  })

  it('finds a parameter between literal texts', () => {
    assert.deepEqual(at('POST', '/campaigns/a-b_C9:trigger'), ['trigger', { campaign_id: 'a-b_C9' }])
    assert.deepEqual(at('GET', '/campaigns/a/texts'), ['texts', { campaign_id: 'a' }])
    assert.equal(at('GET', '/campaigns/a:trigger'), undefined)
  })

  it('leaves an escaped, empty, long or divided parameter to Fastify', () => {
    for (const value of ['', 'a%20b', '%3A', 'a:b', 'a/b', 'a?b', 'a.b', 'é', '__proto__ ', 'a'.repeat(65)])
      assert.equal(at('POST', `/campaigns/${value}:trigger`), undefined, value)
    for (const path of [
      '/campaigns/a:trigger/',
      '/campaigns/a:trigger?b',
      '/campaigns/a:triggers',
      '/campaigns:trigger'
    ])
      assert.equal(at('POST', path), undefined, path)
  })

  it('refuses a route with two parameters', () => {
    assert.throws(() => table.add('POST', '/a/:b/c/:d', 'two'), /at most one parameter/)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig, settings } from './config.ts'

describe('the configuration', () => {
  it('is complete without any variable, and an empty one counts as unset', () => {
    const config = readConfig({ PORT: '', DATABASE_URL: '', LOG_LEVEL: '' })
    assert.deepEqual(
      [config.HOST, config.PORT, config.LOG_LEVEL, config.DATABASE_URL],
      ['127.0.0.1', 8080, 'info', undefined]
    )
    assert.deepEqual(config.PLANS, { free: 10, standard: 1000, unlimited: 0 })
    assert.deepEqual(Object.keys(config), Object.keys(settings))
  })

  for (const [text, value] of [
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false]
  ] as const) {
    it(`reads the boolean ${text}`, () => assert.equal(readConfig({ A2A_TENANT_MARK: text }).A2A_TENANT_MARK, value))
  }

  for (const [name, text] of [
    ['TRUST_PROXY', 'yes'],
    ['TRUST_PROXY', 'TRUE'],
    ['TRUST_PROXY', '33'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'loopback,proxy.example.com'],
    ['TRUST_PROXY', '10.0.0.1,'],
    ['A2A_TENANT_MARK', 'yes'],
    ['A2A_ORIGINS', '*'],
    ['A2A_ORIGINS', 'https://example.com/'],
    ['A2A_ORIGINS', 'https://example.com:443'],
    ['A2A_ORIGINS', 'https://example.com,'],
    ['A2A_ORIGINS', 'ftp://example.com'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '-1'],
    ['PORT', '0x50'],
    ['MASTER_KEY', 'c2hvcnQ='],
    ['DATABASE_URL', 'mysql://x/y'],
    ['DATABASE_URL', 'localhost'],
    ['PUBLIC_URL', 'example.com'],
    ['LOG_LEVEL', 'loud'],
    ['BOOTSTRAP_PROJECT_ID', 'a b'],
    ['BOOTSTRAP_SECRET_KEY', 'svc_pk_x'],
    ['BOOTSTRAP_PUBLIC_KEY', 'svc_sk_x'],
    ['PLANS', 'gold'],
    ['PLANS', 'free:1'],
    ['IDEMPOTENCY_HOURS', '0'],
    ['TEXT_MODEL_URL', 'host/v1'],
    ['TEXT_MODEL_URL', 'https://user:sesame@host/v1'],
    ['TEXT_MODEL_KEY', 'two words'],
    ['TEXT_MODEL_SECONDS', '61'],
    ['DATABASE_CACHE_MB', '15']
  ] as const) {
    it(`refuses ${name}=${text}, naming it`, () => {
      assert.throws(
        () => readConfig({ [name]: text }),
        (error: Error) => error.message.includes(`${name}: must`)
      )
    })
  }

  it('refuses an address of a text model without the name of one', () => {
    assert.throws(() => readConfig({ TEXT_MODEL_URL: 'https://host/v1' }), /TEXT_MODEL_NAME: must/)
  })

  it('never repeats a value in an error, since it may be a secret', () => {
    assert.throws(
      () => readConfig({ MASTER_KEY: 'sesame', BOOTSTRAP_SECRET_KEY: 'sesame' }),
      (error: Error) => !error.message.includes('sesame')
    )
  })
})

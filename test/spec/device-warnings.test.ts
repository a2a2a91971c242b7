import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp } from '../support/devices.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()

const warningOf = async (...devices: object[]) => {
  const sent = devices.map((device, index) => ({ id: `phone-${index}`, platform: 'IOS', ...device }))
  const reply = await asApp(project, 'POST', '/devices', { devices: sent })
  assert.equal(reply.status, 200, reply.text)
  return reply.headers['x-service-warning']
}

describe('X-Service-Warning of POST /api/v1/devices', () => {
  for (const [sent, meant] of [
    ['locale', 'locale_language'],
    ['appVersion', 'app_version'],
    ['time_zone', 'timezone'],
    ['push_tokn', 'push_token'],
    ['modle', 'model'],
    ['bundle_id', 'app_identifier']
  ] as const)
    it(`names ${sent} and the field that is meant, and stores the rest`, async () => {
      assert.equal(await warningOf({ [sent]: 'x' }), `unknown field "${sent}" (did you mean "${meant}"?)`)
    })

  it('names time zones that do not exist, which are stored', async () => {
    const zones = ['Mars/Olympus', 'Europe/Berlin', 'UTC+2', '+02:00', 'Mars/X', '', null, 'europe/berlin']
    assert.equal(
      await warningOf(...zones.map((timezone) => ({ timezone }))),
      'unknown time zone "Mars/Olympus", "UTC+2", "+02:00": UTC is used'
    )
    assert.equal(await warningOf({ timezone: 'Europe/Berlin' }, { timezone: '' }, { timezone: null }, {}), undefined)
    // In lower case, the sign of Kelvin is a k.
    const bangkok = ['Asia/Bangkok', 'ASIA/BANGKOK', 'Asia/Bang\u212aok'].map((timezone) => ({ timezone }))
    assert.equal(await warningOf(...bangkok), 'unknown time zone "Asia/Bang?ok": UTC is used')
  })

  it('names the user of another service, beside other doubts', async () => {
    const said = '"external_id" logs no user in: log in by POST /api/v1/devices/{device_id}/user/project-user-id'
    assert.equal(await warningOf({ external_id: 'ana' }), said)
    assert.equal(
      await warningOf({ tz: 'x', timezone: 'caf\u00e9', external_id: 'ana' }),
      `unknown field "tz" (did you mean "timezone"?); ${said}; unknown time zone "caf?": UTC is used`
    )
  })

  it('is absent for known fields and for fields of the app that resemble none', async () => {
    const known = { model: 'a', os_name: 'b', locale_region: 'DE', push_token: null, is_push_permission_granted: true }
    assert.equal(await warningOf(known, { battery_level: 7, carrier: 'x' }), undefined)
  })

  it('names each field once and at most five, in printable ASCII of at most 256 characters', async () => {
    const hostile = {
      'locale\r\nx: y': 1,
      '"locale"': 1,
      lócale: 1,
      locale: 1,
      LOCALE: 1,
      lang: 1,
      tz: 1,
      token: 1,
      os: 1
    }
    const warning = String(await warningOf(hostile, hostile))
    assert.match(warning, /^[\x20-\x7e]{1,256}$/)
    assert.ok(warning.startsWith('unknown field "'))
    assert.ok((warning.match(/did you mean/g) ?? []).length <= 5)
  })
})

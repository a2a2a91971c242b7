import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from '../support/program.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const document = (await service.ask('GET', '/openapi.json')).json
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const blocks = (path: string) =>
  [...read(path).matchAll(/```(?:swift|kotlin|js|dart)\n(.*?)```/gs)].map(([, code]) => code!).join('\n')

const sources: Record<string, string> = {
  'clients/kotlin/Tidings.kt': read('clients/kotlin/Tidings.kt'),
  'clients/swift/Tidings.swift': read('clients/swift/Tidings.swift'),
  'docs/guides/ios.md': blocks('docs/guides/ios.md'),
  'docs/guides/android.md': blocks('docs/guides/android.md'),
  'docs/guides/react-native-and-flutter.md': blocks('docs/guides/react-native-and-flutter.md')
}

/** Every name of a field that the service takes, sends or puts into a push. */
const known = new Set<string>(['message_id', 'landing_url', 'image_url'])
const collect = (value: unknown): void => {
  if (value === null || typeof value !== 'object') return
  const { properties } = value as { properties?: object }
  for (const name of Object.keys(properties ?? {})) known.add(name)
  for (const one of Object.values(value)) collect(one)
}
collect(document)

/** The paths under /api/v1 of a source, with `{}` for what it puts in. A constant for the device's own path counts too. */
function pathsOf(source: string): string[] {
  const device = '/api/v1/devices/{}'
  const filled = source
    .replace(/"\/api\/v1\/devices\/" \+ [^\n]*/g, `"${device}"`)
    .replace(/'\/api\/v1\/devices\/\$\{[^}]*\}'/g, `'${device}'`)
    .replace(/\\\(device\)|\$device\b|\$_device\b/g, device)
    .replace(/\$\{encodeURIComponent\(\w+\)\}/g, '{}')
  return [...filled.matchAll(/["'`](\/api\/v1\/[^"'`?\s]*)["'`]/g)].map(([, path]) => path!)
}

describe('the clients to copy into apps, and the code of the guides', () => {
  const paths = new Set(Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}')))

  for (const [name, source] of Object.entries(sources))
    it(`${name} calls paths that exist, with fields that exist`, () => {
      assert.deepEqual(
        pathsOf(source).filter((path) => path !== '/api/v1/devices/{}' && !paths.has(path)),
        []
      )
      const fields = [...source.matchAll(/["']([a-z]+(?:_[a-z]+)+)["'](?!\))/g)].map(([, field]) => field!)
      const plain = [...source.matchAll(/\b([a-z]+(?:_[a-z]+)+):/g)].map(([, field]) => field!)
      assert.deepEqual(
        [...fields, ...plain].filter((field) => !known.has(field) && field !== 'device_not_found'),
        []
      )
    })

  it('each file has a path for every call of an app', () => {
    for (const name of ['clients/kotlin/Tidings.kt', 'clients/swift/Tidings.swift']) {
      const called = new Set(pathsOf(sources[name]!))
      for (const path of ['user/project-user-id', 'user/properties', 'preferences'])
        assert.ok(called.has(`/api/v1/devices/{}/${path}`), `${name}: ${path}`)
      for (const path of ['/api/v1/devices', '/api/v1/events']) assert.ok(called.has(path), `${name}: ${path}`)
    }
  })

  it('the requests of the Swift file are taken as it writes them', async () => {
    const project = await service.project()
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': project.publicKey }
    const device = '/api/v1/devices/a%2Db'
    const entry = {
      id: 'a-b',
      platform: 'IOS',
      push_token: 'ab'.repeat(32),
      push_token_type: 'APNS',
      push_environment: 'sandbox',
      app_identifier: 'com.example.shop',
      is_push_permission_granted: true,
      os_version: '26.1',
      locale_region: null
    }
    const event = { id: crypto.randomUUID(), device_id: 'a-b', name: 'purchase' }
    const about = { message_id: null, custom_properties: { amount: 12.5 } }
    const calls: [string, string, unknown?][] = [
      ['POST', '/api/v1/devices', { devices: [entry] }],
      ['POST', `${device}/user/project-user-id`, { project_user_id: 'ana' }],
      [
        'POST',
        `${device}/user/properties`,
        {
          properties: [
            { name: 'plan', value: 'premium' },
            { name: 'gone', value: null }
          ]
        }
      ],
      ['POST', '/api/v1/events', { events: [{ ...event, event_property: about }] }],
      ['POST', `${device}/live-activity-start-tokens`, { attributes_type: 'Ride', push_to_start_token: 'aa' }],
      [
        'POST',
        `${device}/live-activity-update-tokens`,
        { attributes_type: 'Ride', activity_id: 'x', push_token: 'bb' }
      ],
      ['GET', `${device}/preferences`],
      ['PATCH', `${device}/preferences`, { topics: {}, opted_out: true }],
      ['DELETE', `${device}/user/project-user-id`]
    ]
    for (const [method, path, json] of calls) {
      const reply = await service.ask(method, path, { headers, ...(json !== undefined && { json }) })
      assert.equal(reply.status, 200, `${method} ${path}: ${reply.text}`)
    }
    const user = await service.manage('GET', `/projects/${project.id}/users/ana`)
    assert.deepEqual(user.json.properties, { plan: 'premium', gone: null })
  })
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { root, temporaryFolder } from '../support/program.ts'
import { startService } from '../support/service.ts'

// Needs kotlinc and java (Debian: kotlin default-jre-headless). Run by `npm run test:kotlin`.

const service = await startService()

/** Not synchronous: the service runs in this process. */
const run = async (command: string, args: string[]): Promise<string> =>
  (
    await promisify(execFile)(command, args, { encoding: 'utf8', timeout: 300_000 }).catch((error) => {
      if (error.code !== 'ENOENT') throw error
      throw new Error(`${command} is missing: apt-get install kotlin default-jre-headless`)
    })
  ).stdout

it('the Kotlin client compiles, and what it sends is stored', async (t) => {
  const jar = join(await temporaryFolder(t), 'example.jar')
  const files = ['Tidings.kt', 'Example.kt'].map((file) => join(root, 'clients/kotlin', file))
  await run('kotlinc', [...files, '-include-runtime', '-d', jar])
  const project = await service.project()
  const printed = await run('java', ['-jar', jar, service.url, project.id, project.publicKey, 'my phone'])
  assert.match(printed, /^\{"opted_out":false,"topics":\{\}\}\nPATCH needs Android's client\n401 invalid_api_key\n$/)
  const { properties } = (await service.manage('GET', `/projects/${project.id}/users/ana`)).json
  assert.deepEqual(properties, { plan: 'premium', age: 31, vip: true, note: 'a "quote"\nand ümläuts', gone: null })
  const events = (await service.manage('GET', `/projects/${project.id}/events`)).json.items
  assert.deepEqual(
    events
      .map(({ name, project_user_id }: { name: string; project_user_id: string }) => [name, project_user_id])
      .sort(),
    [
      ['PUSH_NOTIFICATION_RECEIVED', 'ana'],
      ['PUSH_NOTIFICATION_TAPPED', 'ana'],
      ['purchase', 'ana']
    ]
  )
  const device = (await service.manage('GET', `/projects/${project.id}/devices/my%20phone`)).json
  assert.deepEqual([device.push.type, device.timezone, device.project_user_id], ['FCM', 'Europe/Berlin', null])
})

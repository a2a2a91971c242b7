import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { paste, startProgram } from '../support/program.ts'
import { eventually, startService } from '../support/service.ts'

describe('docs/tutorials/agent.md', async () => {
  const service = await startService()
  const made = await service.manage('POST', '/projects/demo/keys', { json: { kind: 'secret', name: 'docs' } })
  const page = await readFile(join(import.meta.dirname, '../../docs/tutorials/agent.md'), 'utf8')
  const lines = [...page.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, text]) => text!.trimEnd().split('\n'))
  const [define] = lines.filter((line) => line.startsWith('a2a() '))
  const calls = lines.filter((line) => line.startsWith("a2a '"))
  let task = ''
  const say = async (t: Parameters<typeof paste>[0], line: string) => {
    const here = `SECRET_KEY='${made.json.key}'\n${define!.replace('http://127.0.0.1:8080', service.url)}\nTASK='${task}'\n${line}`
    const { result, error } = JSON.parse(await paste(t, here))
    assert.equal(error, undefined, line)
    const found = result.task ?? result
    task = found.id
    return found
  }

  it('shows the life of a task in lines that work when pasted', async (t) => {
    const states = [
      'input-required',
      'completed',
      'completed',
      'input-required',
      'submitted',
      'input-required',
      'canceled'
    ]
    assert.equal(calls.length, states.length + 1)
    for (const [index, state] of states.entries()) {
      const found = await say(t, calls[index]!)
      assert.equal(found.status.state, state, calls[index])
      const [first] = found.status.message?.parts ?? []
      // Each question that the page quotes must be the question that the task asks. Figures in it depend on the
      // reader's own users.
      const asked = first?.text.replace(/ “.*”\. /, ' … ')
      if (index === 0 || index === 3) assert.ok(page.replaceAll('\n', ' ').includes(asked), asked)
      if (index === 1) assert.deepEqual((await say(t, calls[index]!)).artifacts, found.artifacts)
    }
  })

  it('begins with the line of the README, which works when pasted', async (t) => {
    const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8')
    const line = readme.split('\n').find((one) => one.startsWith('curl ') && one.includes('/a2a '))!
    const here = line.replace('http://127.0.0.1:8080', service.url).replace('svc_sk_…', made.json.key)
    const { status } = JSON.parse(await paste(t, here)).result.task
    assert.equal(status.state, 'completed')
    assert.match(status.message.parts[0].text, /^Done: Send a push to the user "demo-user" with the body "Hello"\.$/)
  })

  it('has webhooks called on this machine', async (t) => {
    const port = await freePort()
    const receiver = lines.find((line) => line.startsWith('node -e '))!.replace('9999', String(port))
    const program = startProgram(t, {}, ['sh', '-c', `exec ${receiver}`])
    const done = await say(t, calls.at(-1)!.replace('9999', String(port)))
    assert.equal(done.status.state, 'completed')
    for (const words of ["authorization: 'Bearer my-secret'", "'x-a2a-token': 'my-token'", '"params":{"result":'])
      await eventually(() => assert.ok(program.stdout().includes(words), program.stdout() + program.stderr()))
  })
})

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

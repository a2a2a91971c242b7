import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { listActions } from '../../src/a2a/a2a.ts'
import { skillsExtension } from '../../src/a2a/extension.ts'
import { judge } from '../../src/a2a/skills/check.ts'
import { flagOf } from '../../src/cli/agents/fields.ts'
import { wholeProgram } from '../../src/cli/program.ts'
import type { Shell } from '../../src/cli/shell.ts'
import { toolOf } from '../../src/mcp/tools.ts'
import { ask, type Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, names } from './agent.ts'
import { contractSkills, skills } from './skills.ts'

const service = await startService({ PUBLIC_URL: 'https://tidings.example' })
const project = await service.project()
const idsOf = (card: Json): string[] => card.skills.map(({ id }: Json) => id)
const get = (path: string, headers: Record<string, string> = {}) => ask(service.url, 'GET', path, { headers })
const named = { 'a2a-extensions': `urn:other:1, ${skillsExtension}` }

describe('the registry of actions', () => {
  it('describes each action once and wholly, the four of the contract first', () => {
    const actions = listActions()
    assert.deepEqual(
      actions.slice(0, 4).map(({ id }) => id),
      contractSkills
    )
    for (const { id, name, description, effect, artifact, rest, example, input, output } of actions) {
      const skill = skills.get(id)!
      assert.deepEqual(
        [skill.name, skill.description, skill.extension === true],
        [name, description, !contractSkills.includes(id)]
      )
      assert.ok(artifact && rest.length > 0 && ['read', 'write', 'send', 'stop'].includes(effect), id)
      assert.deepEqual(judge(skill, example), { kind: 'fit' }, `the example of ${id}`)
      assert.equal(example.skill, id)
      assert.deepEqual(input.properties.skill?.const, id)
      for (const [field, schema] of Object.entries({ ...input.properties, ...output.properties }))
        assert.match(field, /^[a-z][A-Za-z]*$/, JSON.stringify(schema))
    }
  })

  it('names only routes that exist, and those that read by GET or as a preview', async () => {
    const { paths } = (await get('/openapi.json')).json
    for (const { id, rest, effect } of listActions())
      for (const route of rest) {
        const [method, path] = route.split(' ') as [string, string]
        assert.ok(paths[`/api/v1${path}`]?.[method.toLowerCase()], `${id}: ${route}`)
        if (effect === 'read') assert.ok(method === 'GET' || path.endsWith(':preview'), `${id}: ${route}`)
      }
  })

  it('is the same on every surface: A2A, MCP, the command line and the docs', async () => {
    const ids = listActions().map(({ id }) => id)
    const program = await wholeProgram({} as Shell)
    const agent = program.commands.find((command) => command.name() === 'agent')!
    const fields = new Map(agent.commands.map((command) => [command.name(), command.options.map(({ long }) => long)]))
    assert.deepEqual([...skills.keys()], ids)
    assert.deepEqual([...fields.keys()], ids)
    const tools = listActions().map(toolOf)
    assert.deepEqual(
      tools.map(({ name }) => name),
      ids
    )
    const page = await readFile(new URL('../../docs/reference/agent-skills.md', import.meta.url), 'utf8')
    assert.deepEqual(
      [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title),
      ids
    )
    for (const [index, { id, input, effect }] of listActions().entries()) {
      const { inputSchema, annotations } = tools[index]!
      assert.equal(annotations?.readOnlyHint, effect === 'read', id)
      for (const name of Object.keys(input.properties).filter((field) => field !== 'skill')) {
        assert.ok(fields.get(id)!.includes(flagOf(name)), `${id}: ${name} on the command line`)
        assert.ok(Object.hasOwn(inputSchema.properties!, name), `${id}: ${name} in MCP`)
      }
    }
  })

  it('is served to everybody, with a schema of each input and output', async () => {
    const ajv = new Ajv2020({ strict: false })
    const listed = await get('/a2a/schemas')
    assert.deepEqual(listed.json.skills, JSON.parse(JSON.stringify(listActions())))
    for (const { id, input, output, example } of listActions())
      for (const [kind, schema] of Object.entries({ input, output })) {
        const { status, headers, json } = await get(`/a2a/schemas/${id}.${kind}.json`)
        assert.equal(status, 200)
        assert.match(String(headers['content-type']), /^application\/schema\+json/)
        assert.match(String(headers['cache-control']), /public, max-age=/)
        assert.deepEqual(json.properties, JSON.parse(JSON.stringify(schema.properties)))
        const fits = ajv.compile(json)
        if (kind === 'input') assert.deepEqual([fits(example), fits({ skill: 'none' })], [true, false], id)
        const again = await get(`/a2a/schemas/${id}.${kind}.json`, { 'if-none-match': String(headers.etag) })
        assert.equal(again.status, 304)
      }
    for (const name of ['nothing.input.json', 'create-user', '..%2f..%2fpackage.json', '__proto__'])
      assert.equal((await get(`/a2a/schemas/${name}`)).status, 404, name)
  })

  it('stands in /llms.txt, with every skill and the addresses of this service', async () => {
    const { status, headers, text } = await get('/llms.txt')
    assert.equal(status, 200)
    assert.match(String(headers['content-type']), /^text\/plain/)
    for (const { id } of listActions()) assert.ok(text.includes(`/a2a/schemas/${id}.input.json`), id)
    const paths = [...text.matchAll(/\]\(https:\/\/tidings\.example(\/[^)]+)\)/g)].map(([, path]) => path!)
    assert.ok(paths.length > 10)
    for (const path of paths) assert.equal((await get(path)).status, 200, path)
  })
})

describe('settled-2 5: cards', () => {
  it('have the four skills of the contract and no extensions, unless a client names ours', async () => {
    for (const name of names) {
      const agent = agentOf(service, project, name)
      for (const headers of [{}, { 'a2a-extensions': 'urn:other:1' }] as Record<string, string>[]) {
        const reply = await agent.call('card', {}, { headers })
        assert.deepEqual(idsOf(reply.json.result), contractSkills)
        assert.equal(reply.json.result.capabilities.extensions, undefined)
        assert.equal(reply.headers['a2a-extensions'], undefined)
      }
    }
    const open = (await get('/.well-known/agent-card.json', { ...named, 'a2a-version': '1.0' })).json
    assert.deepEqual([idsOf(open), open.capabilities.extensions], [contractSkills, undefined], 'the public one never')
  })

  it('have every skill and links to schemas that exist, for a client that names our extension', async () => {
    for (const name of names) {
      const agent = agentOf(service, project, name)
      const header = name === 'legacy' ? 'x-a2a-extensions' : 'a2a-extensions'
      const reply = await agent.call('card', {}, { headers: { [header]: named['a2a-extensions'] } })
      assert.equal(reply.headers[header], skillsExtension)
      const { skills: listed, capabilities } = reply.json.result
      assert.deepEqual(
        listed.map(({ id }: Json) => id),
        [...skills.keys()]
      )
      const [extension, ...others] = capabilities.extensions
      assert.deepEqual([extension.uri, extension.required, others], [skillsExtension, false, []])
      assert.deepEqual(Object.keys(extension.params.schemas), [...skills.keys()])
      for (const { input, output } of Object.values(extension.params.schemas) as Json[])
        for (const link of [input, output]) {
          assert.ok(link.startsWith('https://tidings.example/'))
          assert.equal((await get(new URL(link).pathname)).status, 200, link)
        }
    }
  })

  it('add only skills that the policy of the key allows', async () => {
    const made = await service.manage('POST', `/projects/${project.id}/keys`, {
      json: { kind: 'secret', name: 'agent', policy: { skills: ['create-user', 'find-user'] } }
    })
    assert.equal(made.status, 201, made.text)
    const agent = agentOf(service, { secretKey: made.json.key }, 'plain')
    assert.deepEqual(idsOf(await agent.result('card', {}, { headers: named })), [...contractSkills, 'find-user'])
  })

  it('do not matter for a call: every skill can be called whatever card was read', async () => {
    for (const name of names) {
      const task = await agentOf(service, project, name).send({ skill: 'list-campaigns' })
      assert.equal(task.artifacts[0].name, 'campaigns')
    }
  })
})

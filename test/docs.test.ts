import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Type } from '@sinclair/typebox'
import { printSkillDocs, printTextDocs } from '../src/a2a/a2a.ts'
import { printCampaignSchema } from '../src/campaigns/definition/file-schema.ts'
import { printCommandDocs } from '../src/cli/docs.ts'
import { printConfigDocs } from '../src/platform/config/config.ts'
import { printErrorDocs } from '../src/platform/error-docs.ts'
import { renderDocsPage } from '../src/platform/http/openapi/docs-page.ts'
import { operationId, pathTemplate, tagOf } from '../src/platform/http/openapi/names.ts'
import { buildOpenApi } from '../src/platform/http/openapi/openapi.ts'
import type { DocumentedRoute } from '../src/platform/http/route.ts'

const committed = (name: string) => readFile(join(import.meta.dirname, '../docs/reference', name), 'utf8')

describe('the printed pages', () => {
  it('docs/reference/errors.md is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('errors.md'), printErrorDocs())
  })

  it('docs/reference/config.md is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('config.md'), printConfigDocs())
  })

  it('docs/reference/commands.md is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('commands.md'), await printCommandDocs())
  })

  it('docs/reference/agent-skills.md is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('agent-skills.md'), printSkillDocs())
  })

  it('docs/reference/agent-texts.md is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('agent-texts.md'), printTextDocs())
  })

  it('docs/reference/campaign.schema.json is what the code prints (npm run docs)', async () => {
    assert.equal(await committed('campaign.schema.json'), printCampaignSchema())
  })
})

describe('a path in the document', () => {
  const cases: [pattern: string, template: string][] = [
    ['/api/v1/users', '/api/v1/users'],
    ['/api/v1/users/:project_user_id', '/api/v1/users/{project_user_id}'],
    ['/api/v1/users::batch', '/api/v1/users:batch'],
    ['/campaigns/:campaign_id(^.*)::trigger', '/campaigns/{campaign_id}:trigger'],
    ['/campaigns/:campaign_id(^(a|b)?)::trigger', '/campaigns/{campaign_id}:trigger'],
    ['/a/:one/b/:two', '/a/{one}/b/{two}'],
    ['/console/*', '/console/{path}']
  ]
  for (const [pattern, template] of cases) {
    it(`is ${template} for ${pattern}`, () => assert.equal(pathTemplate(pattern), template))
  }
})

describe('the name and the place of an operation', () => {
  const cases: [method: string, path: string, isList: boolean, id: string, tag: string][] = [
    ['POST', '/api/v1/users', false, 'createUser', 'Users'],
    ['POST', '/api/v1/users:batch', false, 'batchUsers', 'Users'],
    ['POST', '/api/v1/campaigns/{campaign_id}:trigger', false, 'triggerCampaign', 'Campaigns'],
    ['POST', '/api/v1/live-activities:start', false, 'startLiveActivities', 'Live Activities'],
    ['GET', '/manage/v1/projects/{project_id}', false, 'getProject', 'Projects'],
    ['GET', '/manage/v1/projects/{project_id}/keys', true, 'listProjectKeys', 'Keys'],
    ['DELETE', '/manage/v1/projects/{project_id}/keys/{key_id}', false, 'deleteProjectKey', 'Keys'],
    ['PUT', '/manage/v1/projects/{project_id}/simulator/faults', false, 'replaceProjectSimulatorFaults', 'Simulator'],
    ['GET', '/manage/v1/tokens', true, 'listTokens', 'Tokens'],
    ['POST', '/a2a', false, 'postA2a', 'Agents'],
    ['GET', '/healthz', false, 'getHealthz', 'Health']
  ]
  for (const [method, path, isList, id, tag] of cases) {
    it(`is ${id} under ${tag} for ${method} ${path}`, () => {
      assert.deepEqual([operationId(method, path, isList), tagOf(path)], [id, tag])
    })
  }
})

describe('the page', () => {
  const hostile = '<script>alert("1")</script>'
  const route: DocumentedRoute = {
    method: 'POST',
    path: '/api/v1/things/:thing_id',
    security: 'key',
    plainUnauthorized: true,
    bodyKind: 'json',
    summary: `Summary ${hostile}`,
    params: { thing_id: `Parameter ${hostile}` },
    query: Type.Object({ [hostile]: Type.Optional(Type.String({ description: hostile })) }),
    body: Type.Object({ [hostile]: Type.String({ description: hostile }) }),
    answer: Type.Object({ [hostile]: Type.Literal(hostile) }),
    wording: { invalid: `Text ${hostile}` },
    example: { [hostile]: `${hostile} it's $(quoted) \`here\`` }
  }
  const page = renderDocsPage(buildOpenApi([route], 'http://127.0.0.1:8080'))

  it('escapes whatever a declaration holds', () => {
    assert.equal(page.match(/<script\b/g)?.length, 1, 'only its own script')
    assert.ok(!page.includes('alert("1")'))
    assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;'))
  })

  it('quotes an example so that a shell takes it as text', () => {
    const [, line] = /<pre tabindex="0"><code>(.*?)<\/code>/s.exec(page)!
    const text = line!
      .replace(/<[^>]+>/g, '')
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
    assert.ok(
      text.startsWith("curl -X POST 'http://127.0.0.1:8080/api/v1/things/<thing_id>' -H 'X-Service-Project-ID:")
    )
    assert.ok(text.includes("it'\\''s $(quoted) `here`"))
    assert.ok(!text.includes('\n'))
  })
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { parseSegment } from '../../src/segments/segments.ts'
import { root } from '../support/program.ts'
import { startService } from '../support/service.ts'
import { type Block, blocks, runElsewhere, unread } from './blocks.ts'
import { createChecker } from './programs.ts'
import { requestOf } from './requests.ts'
import { type Command, commandsOf } from './shell.ts'

const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language))
const at = ({ page, line }: Block) => `${page}:${line}`

/** Without placeholders such as <id>, which a shell would take for files, and without `<(…)`, which only bash knows. */
const written = (line: string) => line.replace(/(?<= )<([a-z][\w-]*)>/g, '$1').replace(/(?<= )<\(([^()]*)\)/g, '$1')

/** The faults of blocks, each with the page and the line of its block. */
const faultsOf = (some: Block[], check: (block: Block) => string | undefined | false) =>
  some.flatMap((block) => {
    try {
      const fault = check(block)
      return fault ? [`${at(block)}: ${fault}`] : []
    } catch (error) {
      return [`${at(block)}: ${(error as Error).message}`]
    }
  })

describe('the code in the docs', () => {
  it('is in a language that is read here, or is listed with a reason', (t) => {
    const read = ['sh', 'json', 'yaml', 'ts', 'js', 'html', 'xml']
    assert.deepEqual(blocks.filter(({ language }) => !read.includes(language) && !(language in unread)).map(at), [])
    assert.deepEqual(
      Object.keys(unread).filter((language) => inLanguage(language).length === 0),
      []
    )
    for (const [page, test] of Object.entries(runElsewhere))
      assert.ok(readFileSync(join(root, test), 'utf8').includes(basename(page)), `${test} does not read ${page}`)
    const counts = { run: 0, parsed: 0, excluded: 0 }
    for (const { page, language, code } of blocks) {
      const isRun = page in runElsewhere || (language === 'sh' && /^curl /m.test(code))
      counts[language in unread ? 'excluded' : isRun ? 'run' : 'parsed']++
    }
    t.diagnostic(`${blocks.length} blocks: ${counts.run} run, ${counts.parsed} parsed, ${counts.excluded} excluded`)
  })

  it('for a shell is parsed by one', () => {
    const pages = Map.groupBy(inLanguage('sh'), ({ page }) => page)
    const faults = [...pages].flatMap(([page, some]) => {
      const input = some.flatMap(({ code }) => code.split('\n').map(written)).join('\n')
      const { status, stderr } = spawnSync('sh', ['-n'], { input, encoding: 'utf8' })
      return status === 0 ? [] : [`${page}: ${stderr}`]
    })
    assert.deepEqual(faults, [])
  })

  it('has command lines that the program takes, scripts that exist, and settings that are read', async (t) => {
    const { check } = await createChecker()
    let count = 0
    const faults = inLanguage('sh').flatMap((block) =>
      block.code.split('\n').flatMap((line) =>
        faultsOf([block], () => {
          const commands = commandsOf(written(line))
          count += commands.length
          return commands.map((command) => check(block, command)).find((fault) => fault !== undefined)
        }).map((fault) => `${fault} (${line})`)
      )
    )
    assert.deepEqual(faults, [])
    t.diagnostic(`${count} commands in ${inLanguage('sh').length} blocks`)
  })

  it('with a mistake would be found out by this test', async () => {
    const { check } = await createChecker()
    const [block] = blocks
    const faultOf = (line: string) =>
      commandsOf(written(line))
        .map((command) => check(block!, command))
        .find(Boolean)
    for (const line of [
      'tidings usr list',
      'tidings user list --limt 3',
      'npx tidings serve --role boss',
      'npm run nothing',
      'node test/nothing.ts',
      'WRONG_SETTING=1 npm start',
      'a | frobnicate'
    ])
      assert.ok(faultOf(line), line)
    assert.equal(faultOf('PORT=1 npm start && tidings user get <id> # a comment'), undefined)
    assert.deepEqual(commandsOf(`A=1 b 'c d' "e $F" > g | h\\ i`, { F: 'f' }), [
      { assigned: ['A'], words: ['b', 'c d', 'e f'] },
      { assigned: [], words: ['h i'] }
    ])
  })

  it('has JSON, YAML, JavaScript and TypeScript that can be parsed', () => {
    assert.deepEqual(
      faultsOf(inLanguage('json'), ({ code }) => void JSON.parse(code)),
      []
    )
    assert.deepEqual(
      faultsOf(inLanguage('yaml'), ({ code }) => parseAllDocuments(code).flatMap(({ errors }) => errors)[0]?.message),
      []
    )
    assert.deepEqual(
      faultsOf(inLanguage('js', 'ts'), ({ code }) => void stripTypeScriptTypes(code)),
      []
    )
  })

  it('has campaigns, segments and markup that are what their readers take', () => {
    const message = { title: 'Hello' }
    assert.deepEqual(
      faultsOf(inLanguage('yaml'), ({ code }) => {
        const file = parse(code)
        if (file.segment_id) parseSegment(file.segment)
        else if (file.campaign_id || file.type || file.steps)
          parseCampaign({ name: 'Part', ...(!file.steps && !file.variants && { message }), ...file })
        return undefined
      }),
      []
    )
    assert.deepEqual(
      faultsOf(inLanguage('html', 'xml'), ({ code }) => unbalanced(code)),
      []
    )
  })
})

describe('the requests in the docs', async () => {
  const service = await startService()
  const keyOf = async (kind: string) =>
    (await service.manage('POST', '/projects/demo/keys', { json: { kind, name: 'docs' } })).json.key as string
  const [secret, publicKey] = [await keyOf('secret'), await keyOf('public')]
  const variables = {
    SECRET_KEY: secret,
    PUBLIC_KEY: publicKey,
    AGENT_KEY: secret,
    TOKEN: service.adminToken,
    ADMIN_TOKEN: service.adminToken
  }

  const filled = (line: string) => line.replaceAll('svc_sk_…', secret).replaceAll('svc_at_…', service.adminToken)

  it('are sent as they stand, page by page, and none is refused', async (t) => {
    await service.manage('PATCH', '/projects/demo', { json: { intake: true } })
    const here = inLanguage('sh').filter(({ page }) => !(page in runElsewhere))
    const curls = here.flatMap((block) =>
      block.code
        .split('\n')
        .flatMap((line) => commandsOf(written(filled(line)), variables))
        .filter(({ words }) => words[0] === 'curl' && !words.some((word) => word.includes('value-of-CONTROL')))
        .map((command) => ({ block, command }))
    )
    const refused: string[] = []
    let page = ''
    for (const { block, command } of curls) {
      if (block.page !== page) await applyCampaigns(block.page)
      page = block.page
      const { status, text, asked } = await sent(command)
      if (status >= 300) refused.push(`${at(block)}: ${asked}: ${status} ${text}`)
    }
    assert.deepEqual(refused, [])
    t.diagnostic(`${curls.length} requests sent`)
  })

  /** Saves the campaigns that a page shows, as its reader has done before sending its requests. */
  async function applyCampaigns(page: string) {
    const files = inLanguage('yaml')
      .filter((block) => block.page === page)
      .map(({ code }) => parse(code))
    for (const { campaign_id, ...json } of files.filter((file) => file.campaign_id)) {
      const { topic } = json
      if (topic) await service.manage('PUT', `/projects/demo/topics/${topic}`, { json: { name: topic } })
      assert.equal((await service.manage('PUT', `/projects/demo/campaigns/${campaign_id}`, { json })).status, 200, page)
    }
  }

  async function sent({ words }: Command) {
    const { method, url, headers, body } = requestOf(words.slice(1))
    const response = await fetch(`${service.url}${url.pathname}${url.search}`, {
      ...{ method, headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(10_000)
    })
    const text = response.headers.get('content-type')?.startsWith('text/event-stream') ? '' : await response.text()
    if (text === '') await response.body?.cancel().catch(() => {})
    return { status: response.status, text: text.slice(0, 300), asked: `${method} ${url.pathname}` }
  }
})

/** The first tag without its partner. */
function unbalanced(markup: string): string | undefined {
  const open: string[] = []
  for (const [, end, name, own] of markup.matchAll(/<(\/?)([a-z][\w-]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (own || ['meta', 'link', 'input', 'img', 'br'].includes(name!)) continue
    if (!end) open.push(name!)
    else if (open.pop() !== name) return `</${name}> closes nothing`
  }
  return open.length > 0 ? `<${open[0]}> is not closed` : undefined
}

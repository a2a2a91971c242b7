import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort()
const read = (page: string) => readFileSync(join(root, page), 'utf8')

interface Block {
  language: string
  lines: string[]
}

/** The blocks of code between fences, and the prose around them. */
function parts(text: string): { prose: string; blocks: Block[] } {
  const blocks: Block[] = []
  const prose = text.replace(/^```(\w*)\n([\s\S]*?)^```$/gm, (_, language: string, code: string) => {
    blocks.push({ language, lines: code.trimEnd().split('\n') })
    return ''
  })
  return { prose, blocks }
}

/** The anchor that a heading gets when its page is rendered. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchorsOf = (page: string) =>
  new Set([...parts(read(page)).prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading!)))

/** The problem of a link; undefined if it has none. */
function fault(page: string, target: string): string | undefined {
  const [path, anchor] = target.split('#') as [string, string | undefined]
  const file = path === '' ? join(root, page) : join(root, dirname(page), path)
  if (!existsSync(file) || !statSync(file).isFile()) return `${page}: ${target} is no file`
  if (relative(root, file).startsWith('..')) return `${page}: ${target} leaves the project`
  if (anchor !== undefined && !anchorsOf(relative(root, file)).has(anchor))
    return `${page}: ${target} has no such heading`
  return undefined
}

/** The reason why a line cannot be pasted as a command. */
function unfit(line: string): string | undefined {
  if (line === '') return undefined
  if (line.endsWith('\\')) return 'goes on in the next line'
  if (/^[$>#%\s]/.test(line)) return 'does not start with the command'
  if (!/^(?:[A-Z][A-Z0-9_]*=(?:'[^']*'|"[^"]*"|\S*) ?)*(?:[a-z][\w./-]*\b|$)/.test(line))
    return 'does not start with a command'
  const unquoted = line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, '')
  if (/['"]/.test(unquoted)) return 'has a quote that the line does not close'
  return undefined
}

describe('the pages', () => {
  it('link only to files and headings that are there', () => {
    const faults = pages.flatMap((page) =>
      [...parts(read(page)).prose.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => fault(page, target))
    )
    assert.deepEqual(
      faults.filter((one) => one !== undefined),
      []
    )
  })

  it('are all reached from the README', () => {
    const reached = new Set<string>()
    const visit = (page: string): void => {
      if (reached.has(page)) return
      reached.add(page)
      for (const [, target] of read(page).matchAll(/\]\(([^)\s#:]+\.md)/g)) visit(join(dirname(page), target!))
    }
    visit('README.md')
    visit('docs/README.md')
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      []
    )
  })

  it('have commands that can be pasted line by line', () => {
    const shells = pages.flatMap((page) =>
      parts(read(page))
        .blocks.filter(({ language }) => language === 'sh')
        .map((block) => ({ page, ...block }))
    )
    assert.ok(shells.length > 10)
    const faults = shells.flatMap(({ page, lines }) =>
      lines.flatMap((line) => {
        const reason = unfit(line)
        return reason ? [`${page}: ${line}: ${reason}`] : []
      })
    )
    assert.deepEqual(faults, [])
  })

  it('have no commands in blocks that are not for the shell', () => {
    const hidden = pages.flatMap((page) =>
      parts(read(page))
        .blocks.filter(({ language }) => language !== 'sh')
        .flatMap(({ lines }) => lines.filter((line) => /^(npm|npx|curl|node|tidings) /.test(line)))
        .map((line) => `${page}: ${line}`)
    )
    assert.deepEqual(hidden, [])
  })

  it('give every message of an agent an id of its own, so that all can be pasted one after the other', () => {
    const ids = pages.flatMap((page) => [...read(page).matchAll(/"messageId":"([^"…]+)"/g)].map(([, id]) => id!))
    assert.ok(ids.length > 5)
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      []
    )
  })

  it('give every idempotency key once', () => {
    const keys = pages.flatMap((page) =>
      [...read(page).matchAll(/Idempotency-Key: ([^'"…]+)['"]/g)].map(([, key]) => key!)
    )
    assert.deepEqual(
      keys.filter((key, index) => keys.indexOf(key) !== index),
      []
    )
  })

  it('would be found out by this test', () => {
    for (const line of ['curl \\', '  -H x', '$ npm start', '# npm start', "curl -d '{", '{"a":1}'])
      assert.ok(unfit(line), line)
    for (const line of [
      'npm start',
      "KEY='a b'",
      'PORT=1 npm start',
      'A=$(b c) npm start',
      `curl -H "X: $Y" -d '{"a":1}'`
    ])
      assert.equal(unfit(line), undefined, line)
    assert.ok(fault('README.md', 'docs/none.md') && fault('README.md', 'CHANGELOG.md#none'))
    assert.equal(anchorOf('When something is wrong'), 'when-something-is-wrong')
  })
})

describe('ARCHITECTURE.md and CONTRIBUTING.md', () => {
  it('name only files and folders that exist', () => {
    const named = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((page) =>
      [...read(page).matchAll(/`((?:src|test|scripts)\/[\w./-]*)`/g)].map(([, path]) => path!)
    )
    assert.ok(named.length > 40)
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path))),
      []
    )
  })
})

describe('the README', () => {
  it('has the commands to run and to test, each as a line of its own', () => {
    const lines = parts(read('README.md')).blocks.flatMap((block) => block.lines)
    assert.ok(lines.includes('npm install && npm start'))
    assert.ok(lines.includes('npm install && npm test'))
    assert.ok(lines.some((line) => line.startsWith('curl ')))
  })

  it('shows no key that could be a real one', () => {
    const real = pages.filter((page) => /svc_(sk|pk|at)_[\w-]{8,}/.test(read(page)))
    assert.deepEqual(real, [])
  })
})

describe('the decision records', () => {
  const records = pages.filter((page) => /^docs\/decisions\/\d{4}-/.test(page))
  const index = read('docs/decisions/README.md')
  const headings = ['The question', 'What we chose', 'What we did not choose, and why', 'What would change our mind']

  it('are numbered without a gap and are all in the index, under their own titles', () => {
    assert.ok(records.length >= 14)
    for (const [place, record] of records.entries()) {
      const number = String(place + 1).padStart(4, '0')
      assert.equal(basename(record).slice(0, 4), number)
      assert.ok(index.includes(`](${basename(record)})`), record)
      assert.match(read(record), new RegExp(`^# ${number} \\S`))
    }
  })

  it('have the four headings, in order, and fit on a page', () => {
    for (const record of records) {
      const found = [...parts(read(record)).prose.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
      assert.deepEqual(found, headings, record)
      assert.ok(read(record).split('\n').length <= 70, `${record} is longer than a page`)
    }
  })

  it('that the code cites are there', () => {
    const cited = globSync(['src/**/*.ts', 'test/**/*.ts', 'migrations/*.sql'], { cwd: root }).flatMap((file) =>
      [...read(file).matchAll(/decisions?[/ ](\d{4})/g)].map(([, number]) => [file, number!] as const)
    )
    assert.ok(cited.length >= 3)
    const known = new Set(records.map((record) => basename(record).slice(0, 4)))
    assert.deepEqual(
      cited.filter(([, number]) => !known.has(number)),
      []
    )
  })
})

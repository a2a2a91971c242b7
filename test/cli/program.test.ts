import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { version } from '../../src/platform/version.ts'
import { ranBinary, run } from './service.ts'

const commands = [
  ['serve'],
  ['migrate'],
  ['doctor'],
  ['project'],
  ...['create', 'list', 'show', 'update', 'pause', 'resume', 'delete'].map((name) => ['project', name]),
  ['key', 'rotate'],
  ['send'],
  ['message', 'list'],
  ['message', 'get'],
  ['event', 'list'],
  ['completion'],
  ...['create', 'list', 'revoke'].flatMap((name) => [
    ['key', name],
    ['token', name]
  ]),
  ...['get', 'set', 'delete', 'list', 'import', 'export'].map((name) => ['user', name]),
  ...['set', 'list', 'check', 'remove'].map((name) => ['gateway', name]),
  ...['apns', 'fcm', 'webpush'].map((name) => ['gateway', 'set', name]),
  ['job', 'list'],
  ['job', 'revive'],
  ['copy'],
  ['secrets', 'rotate'],
  ['secrets', 'forget'],
  ...['create', 'list', 'update', 'rotate-secret', 'delete', 'deliveries', 'replay', 'test'].map((name) => [
    'webhook',
    name
  ]),
  ...['apply', 'diff', 'get', 'list', 'versions', 'pause', 'activate', 'archive', 'preview', 'test', 'trigger'].map(
    (name) => ['campaign', name]
  ),
  ...['list', 'get', 'cancel', 'explain'].map((name) => ['trigger', name]),
  ['audit', 'list'],
  ['nodes'],
  ['simulate']
]

/** Commands that only contain other commands. */
const groups = new Set(
  commands.filter((one) => commands.some((other) => isUnder(other, one))).map((one) => one.join(' '))
)
function isUnder(other: string[], one: string[]): boolean {
  return other.length > one.length && one.every((word, index) => other[index] === word)
}

test('every command explains itself with examples, takes --json, and is in the docs', async () => {
  const docs = await readFile(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8')
  for (const command of commands) {
    const { code, stdout, stderr } = await run([...command, '--help'])
    assert.deepEqual([code, stderr], [0, ''], command.join(' '))
    assert.match(stdout, new RegExp(`^Usage: tidings ${command.join(' ')} `))
    assert.match(stdout, /\nExamples:\n {2}\$ /)
    if (!groups.has(command.join(' '))) assert.match(stdout, /^ {2}--json /m, command.join(' '))
    assert.ok(docs.includes(`tidings ${command.join(' ')}`), `docs/reference/commands.md misses ${command.join(' ')}`)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `too wide: ${line}`)
  }
})

test('the help of a command mentions only options of that command', async () => {
  for (const command of commands) {
    const { stdout } = await run([...command, '--help'])
    const own = new Set([...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option))
    // Examples also contain command lines of other programs and commands.
    const words = stdout.replace(/^ {2}\$ .*$/gm, '')
    const strange = [...words.matchAll(/--[a-z][a-z-]*/g)].filter(([option]) => !own.has(option))
    if (!groups.has(command.join(' '))) assert.deepEqual(strange.map(String), [], command.join(' '))
  }
})

test('the docs have the limit of each list and every error code of the command line', async () => {
  const docs = await readFile(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8')
  for (const command of [...commands, ['device', 'list'], ['inbox']]) {
    const { stdout } = await run([...command, '--help'])
    const usual = /--limit <count> [^(]*\(default:\s+(\d+|all)\)/.exec(stdout)?.[1]
    const row = docs
      .split('\n')
      .find((line) => / \| the newest \d+ \|$/.test(line) && line.includes(`\`${command.join(' ')}\``))
    assert.equal(/newest (\d+) \|$/.exec(row ?? '')?.[1] ?? 'all', usual ?? 'all', command.join(' '))
  }
  const folder = new URL('../../src/cli/', import.meta.url)
  for (const file of (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))) {
    const source = await readFile(new URL(file, folder), 'utf8')
    for (const [, code] of source.matchAll(/new Failure\(\s*exit\.\w+,\s*'(\w+)'/g))
      assert.ok(docs.includes(`\`${code}\``), `docs/reference/cli.md misses ${code} of ${file}`)
  }
})

test('the help lists commands and exit codes, and --version prints the version of the package', async () => {
  const help = await run(['--help'])
  assert.equal(help.code, 0)
  for (const [name] of commands) assert.match(help.stdout, new RegExp(`^ {2}${name} `, 'm'))
  assert.match(help.stdout, /Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed/)
  assert.equal((await run(['help', 'user'])).code, 0)
  assert.equal((await run(['--version'])).stdout, `${version}\n`)
})

test('a mistyped command ends with 2 and a suggestion', async () => {
  const cases: [args: string[], said: RegExp][] = [
    [['usr'], /^Unknown command 'usr'\. Did you mean user\? See `tidings --help`\.$/m],
    [['user', 'lst'], /Did you mean list\? See `tidings user --help`/],
    [['user', 'list', '--limt', '3'], /Unknown option '--limt'\. Did you mean --limit\?/],
    [['agent', 'send-push-notification', '--user', 'x'], /Unknown option '--user'\. Did you mean --project-user-id\?/],
    [['campaign', 'delete', 'x'], /^Campaigns are archived: tidings campaign archive x\.$/m],
    [['serve', '--role', 'boss'], /Allowed choices are all, api, worker/],
    [[], /^Usage: tidings/],
    [['key'], /^Usage: tidings key/]
  ]
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await run(args)
    assert.deepEqual([code, stdout], [2, ''], args.join(' '))
    assert.match(stderr, said)
  }
  const json = await run(['user', 'lst', '--json'])
  assert.equal(JSON.parse(json.stderr).code, 'usage')
})

test('the binary prints the same and ends with the same codes', async () => {
  for (const args of [['--version'], ['user', '--help'], ['usr'], ['user', 'lst', '--json'], ['key']]) {
    const { json: _, ...expected } = await run(args)
    assert.deepEqual(await ranBinary(args), expected, args.join(' '))
  }
})

test('--role api and --role worker need DATABASE_URL', async () => {
  // A path that cannot be a data folder, so that no command starts a service.
  const env = { DATA_DIR: import.meta.filename }
  for (const role of ['api', 'worker']) {
    const { code, stdout, stderr } = await run(['serve', '--role', role], { env })
    assert.deepEqual([code, stdout], [78, ''])
    assert.match(
      stderr,
      new RegExp(`^--role ${role} needs DATABASE_URL: the embedded database serves one service only`)
    )
  }
})

test('wrong settings are all reported and end with 78', async () => {
  const { code, stderr } = await run(['serve'], { env: { PORT: 'x', LOG_LEVEL: 'loud' } })
  assert.equal(code, 78)
  assert.match(stderr, /PORT: must be .*\n.*LOG_LEVEL: must be/)
  assert.equal((await run(['migrate'], { env: { PORT: 'x' } })).code, 78)
})

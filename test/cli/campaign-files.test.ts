import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { run, startService, temporaryFolder } from './service.ts'

const welcome = `# Written by the growth team.
campaign_id: welcome
name: Welcome
status: active # since spring
segment: { ref: premium }
message:
  title: 'Hello {{ user.name }}'
`
const sale = '{"campaign_id": "sale", "$schema": "campaign.schema.json", "name": "Sale", "message": {"body": "Now"}}'
const premium = `segment_id: premium
name: Premium
segment: { attribute: user.plan, operator: equals, value: premium }
`

test('lint checks files without a service, and names file, line and column', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'segments'))
  await writeFile(join(folder, 'welcome.yaml'), welcome)
  await writeFile(join(folder, 'sale.json'), sale)
  await writeFile(join(folder, 'campaign.schema.json'), '{}')
  const lint = (...args: string[]) => run(['campaign', 'lint', '-f', folder, ...args])

  await t.test('sound files give 0', async () => {
    const { code, stdout, stderr } = await lint()
    assert.deepEqual([code, stdout, stderr], [0, '', '2 campaigns in 2 files: no problems.\n'])
  })

  await t.test('a saved segment is looked up among the files that were given', async () => {
    await writeFile(join(folder, 'segments/other.yaml'), premium.replace('_id: premium', '_id: other'))
    assert.match((await lint()).stdout, /welcome\.yaml:5:17: error: segment\.ref: there is no saved segment "premium"/)
    await writeFile(join(folder, 'segments/premium.yaml'), premium)
    assert.deepEqual([(await lint()).code, (await lint()).stdout], [0, ''])
  })

  await t.test('every problem of every file is listed, as text, for GitHub, for GitLab and as JSON', async () => {
    const wrong = `campaign_id: wrong
name: Wrong
titel: Hi
segment: { all: [{ attribute: user.plan, operator: equal, value: 1 }] }
message: { title: "{% if %}", body: "{{ name }}" }
`
    await writeFile(join(folder, 'wrong.yaml'), wrong)
    await writeFile(join(folder, 'broken.yaml'), 'campaign_id: [\n')
    await writeFile(join(folder, 'twice.yaml'), 'campaign_id: sale\nname: Sale\nmessage: { title: "{{ name }}" }\n')
    const { code, stdout, stderr } = await lint()
    assert.equal(code, 1)
    for (const line of [
      /broken\.yaml:2:1: error: /,
      /wrong\.yaml:3:8: warning: titel: is not a field of a campaign/,
      /wrong\.yaml:4:52: error: segment\.all\[0\]\.operator: is unknown/,
      /wrong\.yaml:5:19: error: message\.title: line 1, column/,
      /twice\.yaml:1:14: error: campaign_id: stands in .*sale\.json too/,
      /twice\.yaml:3:19: warning: message\.title: refers to name, which is always empty/
    ])
      assert.match(stdout, line)
    assert.match(stderr, /^4 campaigns and 2 saved segments in 7 files: 4 errors, 2 warnings\.$/m)
    assert.match(
      (await lint('--format', 'github')).stdout,
      /^::error file=.*wrong\.yaml,line=5,col=19::message\.title: /m
    )
    const report = JSON.parse((await lint('--format', 'gitlab')).stdout)
    assert.equal(report.length, 6)
    assert.equal(new Set(report.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size, 6)
    assert.equal((await lint('--json')).json<{ problems: object[] }>().problems.length, 6)
  })

  await t.test('warnings count with --strict only, and a missing file is an error', async () => {
    const file = join(folder, 'odd.yml')
    await writeFile(file, 'campaign_id: odd\nname: Odd\nmessage: { title: "{{ name }}" }\n')
    assert.equal((await run(['campaign', 'lint', '-f', file])).code, 0)
    assert.equal((await run(['campaign', 'lint', '-f', file, '--strict'])).code, 1)
    const none = await run(['campaign', 'lint', '-f', join(folder, 'none.yaml')])
    assert.deepEqual([none.code, /none\.yaml:1:1: error: cannot be read: no such file/.test(none.stdout)], [1, true])
    assert.match((await run(['campaign', 'schema'])).stdout, /"title": "Tidings campaign"/)
  })
})

test('campaigns go to a folder and back without noise', async (t) => {
  const { tidings, feed, dataDir } = await startService(t)
  const folder = join(dataDir, 'campaigns')
  const pull = (...args: string[]) => tidings('campaign', 'pull', '--to', folder, ...args)
  const file = (name: string) => readFile(join(folder, name), 'utf8')
  await feed(premium, 'segment', 'apply', '-f', '-')
  await feed(welcome, 'campaign', 'apply', '-f', '-')
  await feed('campaign_id: a/b\nname: Slash\nmessage: { title: x }\n', 'campaign', 'apply', '-f', '-')
  await feed('campaign_id: old\nname: Old\nmessage: { title: x }\nstatus: archived\n', 'campaign', 'apply', '-f', '-')

  await t.test('pull writes a file for each campaign, in the order in which people write them', async () => {
    const first = await pull()
    assert.equal(first.code, 0, first.stderr)
    assert.deepEqual((await readdir(folder)).sort(), ['a%2Fb.yaml', 'campaign.schema.json', 'welcome.yaml'])
    assert.equal(
      await file('welcome.yaml'),
      `# yaml-language-server: $schema=campaign.schema.json
campaign_id: welcome
name: Welcome
status: active
segment:
  ref: premium
message:
  title: Hello {{ user.name }}
`
    )
    assert.equal((await pull()).stdout, '2 campaigns unchanged.\n')
    assert.equal((await tidings('campaign', 'diff', '-f', folder, '--all')).stdout, 'No differences.\n')
    assert.equal((await tidings('campaign', 'apply', '-f', folder)).stdout.match(/unchanged/g)?.length, 2)
    assert.match((await pull('old')).stdout, /old\.yaml: old created/)
    const long = 'é'.repeat(255)
    await feed(
      `campaign_id: ${long}\nname: Long\nstatus: archived\nmessage: { title: x }\n`,
      'campaign',
      'apply',
      '-f',
      '-'
    )
    assert.match((await pull(long)).stdout, /^[/\w.-]*%C3%A9[%C3A9]*-[0-9a-f]{12}\.yaml: /)
  })

  await t.test('a file keeps its comments, its form and its place; only what changed is written', async () => {
    const two = `${welcome}---\ncampaign_id: a/b\nname: Slash\nmessage: { title: x } # short\n`
    await tidings('campaign', 'archive', 'old')
    const mixed = join(dataDir, 'mixed')
    await mkdir(mixed)
    await writeFile(join(mixed, 'both.yaml'), two)
    await writeFile(join(mixed, 'sale.json'), sale)
    const into = () => tidings('campaign', 'pull', '--no-schema', '--to', mixed)
    assert.match((await into()).stdout, /sale\.json: sale only in the folder\n2 campaigns unchanged\.\n/)
    assert.equal(await readFile(join(mixed, 'both.yaml'), 'utf8'), two)
    await feed(sale, 'campaign', 'apply', '-f', '-')
    await feed(sale.replace('Now', 'Soon'), 'campaign', 'apply', '-f', '-')
    await feed(welcome.replace('Hello', 'Hi'), 'campaign', 'apply', '-f', '-')
    assert.match((await into()).stdout, /both\.yaml: welcome updated\n1 campaign unchanged\.\n/)
    assert.equal(await readFile(join(mixed, 'both.yaml'), 'utf8'), two.replace('Hello', 'Hi'))
    assert.match(await readFile(join(mixed, 'sale.json'), 'utf8'), /"\$schema": "campaign.schema.json"[\s\S]*"Soon"/)
    assert.deepEqual((await readdir(mixed)).sort(), ['both.yaml', 'sale.json'])
    assert.equal((await tidings('campaign', 'diff', '-f', mixed, '--all')).code, 0)
  })

  await t.test('diff names campaigns that no file has, if asked to', async () => {
    assert.equal((await tidings('campaign', 'diff', '-f', join(folder, 'a%2Fb.yaml'))).code, 0)
    const all = await tidings('campaign', 'diff', '-f', join(folder, 'a%2Fb.yaml'), '--all')
    assert.deepEqual([all.code, all.stdout], [1, 'sale\n- only in the service\n\nwelcome\n- only in the service\n'])
  })

  await t.test('a folder without files, an id in two files and a folder that is a file are refused', async () => {
    const empty = join(dataDir, 'empty')
    await mkdir(empty)
    assert.match((await tidings('campaign', 'apply', '-f', empty)).stderr, /contains no YAML or JSON files/)
    await writeFile(join(empty, 'a.yaml'), welcome)
    await writeFile(join(empty, 'b.yaml'), welcome)
    assert.match((await tidings('campaign', 'apply', '-f', empty)).stderr, /b\.yaml: welcome stands in .*a\.yaml too/)
    assert.match((await pull('--to', join(empty, 'a.yaml'))).stderr, /a\.yaml cannot be written/)
    assert.equal((await pull('none')).code, 3)
  })
})

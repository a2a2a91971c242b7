import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { run } from './cli/service.ts'
import { paste, root, temporaryFolder } from './support/program.ts'
import { startService } from './support/service.ts'

interface Block {
  language: string
  text: string
}

const blocksOf = async (page: string): Promise<Block[]> =>
  [...(await readFile(join(root, 'docs/tutorials', page), 'utf8')).matchAll(/^```(\w+)\n(.*?)^```/gms)].map(
    ([, language, text]) => ({ language: language!, text: text! })
  )

/** Tests that a reader who pastes every line of these tutorials, in order, gets what the pages promise. */
describe('the tutorials of a backend developer', async () => {
  const service = await startService()
  const made = await service.manage('POST', '/projects/demo/keys', { json: { kind: 'secret', name: 'tutorial' } })

  /** Runs the commands of one page in a folder that holds its files, and returns what each command printed. */
  async function follow(t: TestContext, page: string, files: Record<string, string>, variables = '') {
    const folder = await temporaryFolder(t)
    const blocks = await blocksOf(page)
    for (const [name, language] of Object.entries(files))
      await writeFile(join(folder, name), blocks.find((block) => block.language === language)!.text)
    // The shell reads a line, and its words are run in this process: a process for each takes most of a second to load.
    const words = join(await temporaryFolder(t), 'words')
    const env = { TIDINGS_URL: service.url, TIDINGS_TOKEN: service.adminToken, TIDINGS_PROJECT: 'demo' }
    const ran = async () => {
      const text = await readFile(words, 'utf8').catch(() => '')
      await rm(words, { force: true })
      const args = text.split('\0').slice(0, -1)
      if (args.length === 0) return ''
      return (
        await run(
          args.map((word) => (word in files ? join(folder, word) : word)),
          { env }
        )
      ).stdout
    }
    const settings = [
      `export TIDINGS_URL='${service.url}' TIDINGS_TOKEN='${service.adminToken}' TIDINGS_PROJECT=demo`,
      `export SECRET_KEY='${made.json.key}'`,
      `npx() { shift; printf '%s\\0' "$@" >'${words}'; }`,
      `cd '${folder}'`,
      variables
    ].join('\n')
    const lines = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.trimEnd().split('\n'))
      .filter((line) => !/^(npm |[A-Z_]+='[^']*'$)/.test(line))
    const printed: [line: string, output: string][] = []
    for (const line of lines) {
      const here = line.replaceAll('http://127.0.0.1:8080', service.url)
      printed.push([line, (await paste(t, `${settings}\n${here}`)) + (await ran())])
    }
    return (part: string) => printed.filter(([line]) => line.includes(part)).map(([, output]) => output)
  }

  it('first-push.md sends a push once, and shows a failure as a result', async (t) => {
    const printed = await follow(t, 'first-push.md', { 'shipped.mjs': 'js' })
    assert.match(printed('/api/v1/users')[0]!, /"plan":"premium"/)
    assert.match(printed('/api/v1/messages:send')[0]!, /STATUS_SUCCEED.*"device_id":"ana-phone"/)
    assert.match(printed('tidings inbox')[0]!, /Your order is on its way/)
    assert.match(printed('shipped.mjs ana')[0]!, /^DELIVERY_RESULT_STATUS_SUCCEED/)
    assert.match(printed('shipped.mjs nobody')[0]!, /^DELIVERY_RESULT_STATUS_FAILED \[USER_NOT_FOUND\]/)
  })

  it('first-campaign.md reaches the premium customer, and explains why not the other', async (t) => {
    // The page lists triggers and puts the newest id into a variable; here it comes from a trigger of the same kind.
    const variables = `TRIGGER=$(curl -s "$TIDINGS_URL/api/v1/triggers?limit=1" -H 'X-Service-Project-ID: demo' -H "X-Service-API-Key: $SECRET_KEY" | sed 's/.*"trigger_id":"\\([^"]*\\)".*/\\1/')`
    const printed = await follow(t, 'first-campaign.md', { 'spring.yaml': 'yaml' }, variables)
    const [both, other] = printed('campaign trigger spring')
    assert.match(both!, /completed/)
    assert.match(printed(':trigger')[0]!, /"trigger_id"/)
    assert.match(printed('trigger explain')[0]!, /not_in_segment/)
    assert.match(other!, /completed/)
  })

  it('welcome-series.md greets, waits for the next step, and ends by a purchase', async (t) => {
    const printed = await follow(t, 'welcome-series.md', { 'welcome-series.yaml': 'yaml' })
    assert.match(printed('campaign apply')[0]!, /created, version 1/)
    assert.match(printed('inbox')[0]!, /Welcome, Ana/)
    const [waiting, left] = printed('user journeys')
    assert.match(waiting!, /welcome.*waiting.*the step tip until/)
    assert.match(printed('campaign journeys')[0]!, /^Waiting +1$/m)
    assert.match(left!, /exited.*Left by the event purchase/)
  })

  it('price-alert.md sends what is worth it, once a day, and nothing to a buyer', async (t) => {
    const printed = await follow(t, 'price-alert.md', { 'price-alert.yaml': 'yaml' })
    assert.match(printed('inbox')[0]!, /chair is 25 % cheaper/)
    assert.match(printed('user journeys ana')[0]!, /price-alert.*completed/)
    assert.match(printed('user journeys demo-user')[0]!, /Left by the event purchase before the message/)
  })

  it('weekly-digest.md shows its next times, and sends a test', async (t) => {
    const printed = await follow(t, 'weekly-digest.md', { 'digest.yaml': 'yaml' })
    assert.match(printed('campaign get')[0]!, /timezone: user/)
    assert.match(printed('campaign test')[0]!, /ana-iphone.*succeed/)
    assert.match(printed('inbox')[0]!, /Your week/)
    assert.match(printed('trigger list')[0]!, /No triggers match/)
  })

  it('live-match.md changes two lock screens with one request, and a third one later', async (t) => {
    // The page puts the id that was printed into a variable; here it comes from the list.
    const variables = `CHANNEL=$(curl -s "$TIDINGS_URL/api/v1/live-activity-channels" -H 'X-Service-Project-ID: demo' -H "X-Service-API-Key: $SECRET_KEY" | sed 's/.*"channel_id":"\\([^"]*\\)".*/\\1/')`
    const printed = await follow(t, 'live-match.md', {}, variables)
    const [kickOff, late] = printed('live-activities:start')
    assert.equal(kickOff!.split('STATUS_SUCCEED').length, 3, kickOff)
    assert.match(printed('activity-channel update')[0]!, /^Status +succeed$/m)
    assert.match(printed(':update')[0]!, /STATUS_SUCCEED/)
    assert.match(printed('tidings inbox')[0]!, /2 activities/)
    assert.match(late!, /STATUS_SUCCEED/)
    assert.match(printed('activity-channel end')[0]!, /^Status +succeed$/m)
    assert.match(printed('activity-channel delete')[0]!, /^Deleted the channel /)
  })
})

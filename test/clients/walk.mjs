// Runs in the folder of one client, beside its program: the same conversation with every client. It writes result.json.
import { writeFile } from 'node:fs/promises'

const { BASE_URL: url, SECRET_KEY: key, TRIGGER_ID: other } = process.env
const results = []
const last = { seen: '', triggerId: undefined }

/** A step passes if what the client returns shows these texts. */
async function step(name, act, ...shows) {
  try {
    last.seen = JSON.stringify(await act()) ?? ''
    const missing = shows.filter((one) => !one.test(last.seen)).map(String)
    results.push({ name, passed: missing.length === 0, seen: last.seen.slice(0, 4_000), missing })
  } catch (error) {
    results.push({ name, passed: false, seen: String(error?.stack ?? error).slice(0, 4_000), missing: [] })
  }
}

const triggerId = /\btriggerId\W+([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})/
let client
await step(
  'card',
  async () => {
    client = await (await import('./program.mjs')).connect({ url, key })
    return client.card
  },
  /Tidings Agent/
)
const say = (text) => client.say(text)
if (client) {
  await step('find', () => say('Find user ana'), /plan[^a-z]+gold/)
  await step('preview', () => say('Preview campaign spring for everyone'), /Spring is here/)
  await step('question', () => say('Trigger campaign spring for everyone'), /Shall I/)
  await step('broadcast', () => say('yes'), triggerId)
  last.triggerId = triggerId.exec(last.seen)?.[1]
  await step('why', () => say(`Why did user bo not get trigger ${last.triggerId ?? other}?`), /has no device/)
}
await writeFile(process.env.RESULT_FILE, JSON.stringify(results))
// Some clients keep connections or timers.
process.exit(0)

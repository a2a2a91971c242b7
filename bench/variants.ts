// The cost of variants and languages for each message: `node bench/variants.ts [messages]`. Drafts messages (choose the
// text, render it in its process, make the draft) for a campaign with one text and for the same texts as two variants in
// three languages, in turns. A message takes about 180 µs of the worker and of PostgreSQL in all (record 0022).
import { parseCampaign } from '../src/campaigns/definition/definition.ts'
import { readyOf } from '../src/campaigns/versions.ts'
import type { Endpoint } from '../src/channels/channels.ts'
import { newId, type ProjectId } from '../src/platform/ids.ts'
import { createRenderer } from '../src/templates/renderer.ts'
import { draftMessages } from '../src/triggers/batches/draft.ts'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const count = Number(process.argv[2] ?? 20_000)
const batch = 1_000
const rounds = 15
/** Of the worker and of PostgreSQL for each message of a broadcast, in microseconds (record 0022). */
const wholeMicros = 180
const text = {
  title: 'Hello {{ user.name | default: "there" }}',
  body: '{% if user.plan == "premium" %}A gift{% else %}An offer{% endif %}: {{ trigger.code }}'
}
const message = { ...text, language: 'en', translations: { de: text, 'pt-BR': text } }
const fields = { campaign_id: 'spring', name: 'Spring' }
const campaigns = {
  'one text': { ...fields, message: text },
  'two variants': { ...fields, variants: ['a', 'b'].map((id) => ({ id, weight: 1, message: text })) },
  'three languages': { ...fields, message },
  'two variants in three languages, a holdout of 0.1 %': {
    ...fields,
    holdout: 0.1,
    variants: ['a', 'b'].map((id) => ({ id, weight: 1, message }))
  }
}
const languages = ['en', 'de', 'pt', 'fr']
const recipients = Array.from({ length: batch }, (_, n) => ({
  device_id: `phone-${n}`,
  user_id: newId(),
  project_user_id: `user-${n}`,
  properties: { name: `Ana ${n}`, plan: n % 2 ? 'premium' : 'free', city: 'Seoul', age: n },
  platform: 'IOS' as const,
  facts: { timezone: 'Asia/Seoul', locale_language: languages[n % 4]!, locale_region: 'BR' },
  choices: null
}))
const endpoints = new Map(recipients.map(({ device_id }) => [device_id, { deviceId: device_id } as Endpoint]))
const projectId = 'p' as ProjectId
const renderer = createRenderer()

const work = Object.entries(campaigns).map(([name, campaign]) => {
  const ready = readyOf(renderer, projectId, parseCampaign(campaign), name)
  const run = async (messages: number) => {
    const trigger = { id: newId(), campaign_id: 'spring', properties: { code: 'SPRING' }, step: null }
    for (let done = 0; done < messages; done += batch)
      await draftMessages({
        trigger,
        ready,
        recipients: recipients as never,
        endpoints,
        topics: new Map() as never,
        capped: new Set(),
        notAfter: Date.now() + 3_600_000
      })
  }
  return { name, run, micros: [] as number[], cpu: [] as number[] }
})
for (const { run } of work) await run(batch * 3)
for (let round = 0; round < rounds; round++)
  // Each round begins with another campaign, so that none always runs in the same place.
  for (let place = 0; place < work.length; place++) {
    const { run, micros, cpu } = work[(round + place) % work.length]!
    const each = Math.ceil(count / rounds / batch) * batch
    const [began, before] = [performance.now(), process.cpuUsage()]
    await run(each)
    const { user, system } = process.cpuUsage(before)
    micros.push(((performance.now() - began) * 1_000) / each)
    cpu.push((user + system) / each)
  }
await renderer.close()

const [none] = work.map(({ micros, cpu }) => ({ micros: median(micros), cpu: median(cpu) }))
for (const { name, micros, cpu } of work) {
  const [time, own] = [median(micros), median(cpu)]
  const whole = (wholeMicros + time - none!.micros) / wholeMicros
  console.log(
    `${name.padEnd(52)} ${time.toFixed(1)} µs to draft (${(time / none!.micros).toFixed(2)}), ` +
      `${own.toFixed(1)} µs of it in the service; a message in all: ${whole.toFixed(3)}`
  )
}
const most = work.at(-1)!
report({
  name: 'drafting a message with variants and languages',
  value: median(most.micros),
  unit: 'µs',
  better: 'less',
  peers: { 'one text': none!.micros }
})

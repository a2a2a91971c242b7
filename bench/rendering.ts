// The cost of rendering templates in a separate process: `node bench/rendering.ts [messages]`. Messages a second and
// processor time of the service for each message, compared with rendering in the service itself.
import { parseCampaign } from '../src/campaigns/definition/definition.ts'
import { newId, type ProjectId } from '../src/platform/ids.ts'
import { createRenderer } from '../src/templates/renderer.ts'
import { renderingOf } from '../src/templates/rendering.ts'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const count = Number(process.argv[2] ?? 20_000)
const batch = 1_000
const projectId = 'p' as ProjectId
const campaign = parseCampaign({
  campaign_id: 'spring',
  name: 'Spring',
  message: {
    title: 'Hello {{ user.name | default: "there" }}',
    body: '{% if user.plan == "premium" %}A gift{% else %}An offer{% endif %}: {{ trigger.code }}, until {{ trigger.until | date: "%d.%m.%Y" }}'
  }
})
/** Only inserts values, so the service fills it in itself. */
const plain = parseCampaign({
  campaign_id: 'plain',
  name: 'Plain',
  message: { title: 'Hello {{ user.name | default: "there" }}', body: 'A gift: {{ trigger.code }}' }
})
const trigger = { properties: { code: 'SPRING', until: '2026-12-01' } }
const recipients = Array.from({ length: batch }, (_, n) => ({
  device_id: `phone-${n}`,
  user_id: newId(),
  project_user_id: `user-${n}`,
  properties: { name: `Ana ${n}`, plan: n % 2 ? 'premium' : 'free', city: 'Seoul', age: n },
  platform: 'IOS' as const,
  facts: { timezone: 'Asia/Seoul', locale_region: 'KR' }
}))

interface Measured {
  perSecond: number
  cpuMicros: number
}

async function measured(messages: number, work: () => Promise<unknown>): Promise<Measured> {
  const rounds: Measured[] = []
  for (let round = 0; round < 5; round++) {
    const [began, before] = [performance.now(), process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(before)
    rounds.push({ perSecond: (messages / (performance.now() - began)) * 1_000, cpuMicros: (user + system) / messages })
  }
  const of = (name: keyof Measured) => median(rounds.map((round) => round[name]))
  return { perSecond: of('perSecond'), cpuMicros: of('cpuMicros') }
}

const renderer = createRenderer()
const later = () => Date.now() + 60_000
const began = performance.now()
await renderer.of(projectId, campaign).for(trigger)(recipients.slice(0, 1), later())
console.log(`the first message: ${Math.round(performance.now() - began)} ms, the start of the process included`)

const here = await measured(count, async () => {
  const { make } = renderingOf(campaign).for(trigger)
  for (let done = 0; done < count; done += batch) recipients.map(make)
})
const there = await measured(count, async () => {
  const render = renderer.of(projectId, campaign, 'version').for(trigger, newId())
  for (let done = 0; done < count; done += batch) await render(recipients, later())
})
const singles = await measured(count / 10, async () => {
  const rendering = renderer.of(projectId, campaign, 'version')
  for (let done = 0; done < count / 10; done++) await rendering.for(trigger, newId())(recipients.slice(0, 1), later())
})
const filled = await measured(count, async () => {
  const render = renderer.of(projectId, plain, 'plain').for(trigger, newId())
  for (let done = 0; done < count; done += batch) await render(recipients, later())
})
await renderer.close()

const row = (name: string, { perSecond, cpuMicros }: Measured) =>
  console.log(
    `${name.padEnd(44)} ${Math.round(perSecond).toLocaleString().padStart(8)} /s (${(perSecond / here.perSecond).toFixed(2)}), ` +
      `${cpuMicros.toFixed(1)} µs of the service each (${(cpuMicros / here.cpuMicros).toFixed(2)})`
  )
row('in the service', here)
row('in a process, 1,000 recipients', there)
row('in a process, triggers for one recipient each', singles)
row('filled in, 1,000 recipients', filled)
report({
  name: 'CPU of the service to render a message',
  value: there.cpuMicros,
  unit: 'µs',
  better: 'less',
  peers: { 'rendered in the service': here.cpuMicros }
})
report({
  name: 'CPU of the service to fill in a message that only inserts values',
  value: filled.cpuMicros,
  unit: 'µs',
  better: 'less',
  peers: { 'rendered in a process': there.cpuMicros }
})

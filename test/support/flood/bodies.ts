import { listActions } from '../../../src/a2a/a2a.ts'
import { bodyText, changedAt, names, numbers, placesOf, raws, strings } from '../hostile.ts'
import type { Json } from '../http.ts'
import type { Chance } from './chance.ts'
import type { Known } from './world.ts'

const small = strings.filter((text) => text.length < 1_000)
const large = [...strings.filter((text) => text.length >= 1_000), new Array(2_000).fill(0), new Array(25_000).fill({})]
const shallow = [...raws.keys()].filter((name) => raws.get(name)!.length < 1_000)
const deep = [...raws.keys()].filter((name) => raws.get(name)!.length >= 1_000)
const empties: Json[] = [null, true, false, [], {}, [[]], [{}], [null], { '': '' }, { a: { b: {} } }]

/** A value that no field expects. Large and deep ones are rare, because they take most of the time. */
export function hostile(chance: Chance): Json {
  return chance.branch<Json>(
    [50, () => chance.pick(small)],
    [25, () => chance.pick(numbers)],
    [25, () => structuredClone(chance.pick(empties))],
    [10, () => chance.pick(shallow)],
    [1, () => chance.pick(chance.percent(50) ? deep : large)],
    [10, () => String.fromCodePoint(...Array.from({ length: 5 }, () => chance.below(0xd7ff)))],
    [5, () => [hostile(chance), { [chance.pick(names)]: hostile(chance) }]]
  )
}

/** The value with ids of real things in the fields that have their names. */
function withKnown(value: Json, known: Known, chance: Chance): Json {
  if (Array.isArray(value)) return value.map((inner) => withKnown(inner, known, chance))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const ids = known.get(name)
      const id = typeof inner === 'string' && ids && chance.percent(40) ? chance.pick(ids) : undefined
      return [name, id ?? withKnown(inner, known, chance)]
    })
  )
}

/** A valid body with a few places changed: replaced, left out, given one more name, or made into a list of itself. */
function changed(good: Json, chance: Chance): Json {
  let value = good
  for (let times = chance.percent(80) ? 1 : 3; times > 0; times -= 1) {
    const place = chance.pick(placesOf(value))
    value = changedAt(value, place, (old) =>
      chance.branch<Json>(
        [6, () => hostile(chance)],
        [1, () => undefined],
        [
          2,
          () =>
            typeof old === 'object' && old !== null && !Array.isArray(old)
              ? Object.fromEntries([...Object.entries(old), [chance.pick(names), hostile(chance)]])
              : [old, old, hostile(chance)]
        ],
        [1, () => (Array.isArray(old) ? new Array(200).fill(old[0]) : [old])]
      )
    )
  }
  return value
}

const broken = [
  '',
  '{',
  'null',
  '[]',
  '""',
  '0',
  '{"a":',
  '\ufeff{}',
  '{}{}',
  '{"a":1,"a":2}',
  '{"__proto__":1}',
  'a=b&c=d',
  '<a/>',
  '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
  '{"\\ud800":"\\udc00"}',
  '{"a":"\\u0000"}',
  '{"a":01}',
  "{'a':1}",
  '[1,]',
  'NaN'
].map((text) => Buffer.from(text))
const bytes = [
  Buffer.from([0xff, 0xfe]),
  Buffer.from('{"a":"\xe9"}', 'latin1'),
  Buffer.from([0x7b, 0x00, 0x7d]),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
  Buffer.alloc(70_000, 0x20)
]

/** A body made from a valid example, which may be JSON or a text such as CSV. */
export function bodyFrom(example: Json, known: Known, chance: Chance): Buffer {
  return chance.branch(
    [30, () => Buffer.from(textOf(withKnown(example, known, chance)))],
    [60, () => Buffer.from(alteredText(example, known, chance))],
    [5, () => chance.pick(broken)],
    [2, () => chance.pick(bytes)],
    [5, () => Buffer.from(bodyText(hostile(chance)))]
  )
}

const textOf = (example: Json): string => (typeof example === 'string' ? example : bodyText(example))

function alteredText(example: Json, known: Known, chance: Chance): string {
  if (typeof example !== 'string') return bodyText(changed(withKnown(example, known, chance), chance))
  const at = chance.below(example.length)
  const value = hostile(chance)
  return `${example.slice(0, at)}${typeof value === 'string' ? value : bodyText(value)}${example.slice(at)}`
}

const actions = listActions()
const methods = [
  ['SendMessage', 'message/send'],
  ['SendMessage', 'message/send'],
  ['SendMessage', 'message/send'],
  ['SendStreamingMessage', 'message/stream'],
  ['GetTask', 'tasks/get'],
  ['ListTasks', 'tasks/list'],
  ['CancelTask', 'tasks/cancel'],
  ['SubscribeToTask', 'tasks/resubscribe'],
  ['CreateTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set'],
  ['GetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/get'],
  ['ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/list'],
  ['DeleteTaskPushNotificationConfig', 'tasks/pushNotificationConfig/delete'],
  ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'],
  ['__proto__', 'constructor']
] as const

/** A valid call of an agent, in one of the two dialects. */
export function agentCall(known: Known, chance: Chance): Json {
  const legacy = chance.percent(50)
  const action = chance.pick(actions)
  const method = chance.pick(methods)[legacy ? 1 : 0]
  const content = chance.percent(30)
    ? { text: chance.pick(action.examples ?? ['Hello']) }
    : { data: { skill: action.id, ...(withKnown(action.example, known, chance) as object) } }
  const kind = 'text' in content ? 'text' : 'data'
  const id = chance.pick(known.get('task_id') ?? ['x'])
  const message = {
    messageId: `m-${chance.below(1e9)}`,
    role: legacy || chance.percent(50) ? 'user' : 'ROLE_USER',
    parts: [legacy ? { kind, ...content } : content],
    ...(legacy && { kind: 'message' }),
    ...(chance.percent(20) && { taskId: id })
  }
  const config = { id: 'c', url: 'http://127.0.0.1:65533/agent', token: 't' }
  const params = {
    ...(/end|stream/i.test(method) ? { message } : { id, taskId: id }),
    ...(/Config/.test(method) && { ...config, pushNotificationConfig: config }),
    ...(chance.percent(20) && {
      historyLength: 1,
      pageSize: 2,
      configuration: { blocking: false, returnImmediately: true }
    })
  }
  return { jsonrpc: '2.0', id: chance.below(100), method, params }
}

/** A valid call of the Model Context Protocol. */
export function mcpCall(known: Known, chance: Chance): Json {
  const action = chance.pick(actions)
  const clientInfo = { name: 'flood', version: '1' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  const [method, more] = chance.pick<[string, object]>([
    ['tools/call', { name: action.id, arguments: withKnown(action.example, known, chance) as object }],
    ['tools/call', { name: action.id, arguments: withKnown(action.example, known, chance) as object }],
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/read', { uri: chance.pick(['tidings://campaigns', 'tidings://docs/mcp', 'tidings://triggers/x']) }],
    ['initialize', { protocolVersion: '2025-11-25', clientInfo, capabilities: {} }],
    ['server/discover', {}]
  ])
  return { jsonrpc: '2.0', id: chance.below(100), method, params: { ...(chance.percent(70) && { _meta }), ...more } }
}

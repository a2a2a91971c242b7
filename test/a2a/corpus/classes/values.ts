import { type Case, type Class, classOf, does, mayDo } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { bareOrder, pushes } from '../orders.ts'
import { names } from '../things.ts'

/** As numbers these values would have another spelling than in the text. */
const asWritten = [
  '1.10',
  '2.0',
  '0.50',
  '007',
  '00',
  '0123',
  '1e5',
  '1E5',
  '2e-3',
  '+49',
  '+4917012345678',
  '12345678901234567890',
  '9007199254740993',
  '3.14159265358979323846',
  '0x1F',
  '1_000',
  'v1.2.3',
  '1.2.3',
  '2024-01-31',
  '10.0.0.1',
  'gold-plus',
  'A/B',
  'pt_BR',
  'x@y.example',
  'große',
  '東京',
  'Москва'
]
const quoted = [
  'New York',
  '31',
  'true',
  '1.10',
  'a=b',
  'a, b and c',
  'with plan=gold',
  'not yet',
  "it's",
  '🎉',
  'null'
]
const asMeant: readonly [string, unknown][] = [
  ['31', 31],
  ['12.5', 12.5],
  ['-3', -3],
  ['-0.5', -0.5],
  ['0', 0],
  ['1000000', 1_000_000],
  ['true', true],
  ['false', false]
]
/** Several readings are right, and so is a question. */
const either: readonly [string, ...unknown[]][] = [
  ['TRUE', true, 'TRUE'],
  ['False', false, 'False'],
  ['null', null, 'null'],
  ['-0', '-0', 0],
  ['.5', '.5', 0.5],
  ['1,000', '1,000'],
  ['10%', '10%'],
  ['€5', '€5'],
  ['$5', '$5'],
  ['12:30', '12:30'],
  ['1/2', '1/2'],
  ['[1,2]', [1, 2], '[1,2]'],
  ['{"a":1}', { a: 1 }, '{"a":1}'],
  ["'Bo'", 'Bo'],
  ['“Bo”', 'Bo'],
  ['"say \\"hi\\""', 'say "hi"'],
  ['https://example.com/a?b=c&d=e#f', 'https://example.com/a?b=c&d=e#f'],
  ['https://example.com', 'https://example.com'],
  ['C++', 'C++'],
  ['R&D', 'R&D'],
  ['~5', '~5'],
  ['５', '５', 5],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
  ['undefined', 'undefined'],
  ['yes', 'yes', true],
  ['no', 'no', false]
]
const texts = [
  '1.10',
  '007',
  'Line one\nline two',
  'a "quoted" word'.replaceAll('"', "'"),
  '100 % sure, right?',
  '{{ trigger.code }} is your code',
  '  spaced  ',
  '¿Qué tal?',
  'https://example.com/a?b=c',
  'x=1 and y=2',
  'true',
  'user bo',
  'with title Bye',
  'if not, then never',
  '⚡️ Go!'
]

function pushCase(draw: Draw): Case {
  const [name, text] = [draw.pick(names), draw.pick(texts)]
  const [form, content] = draw.pick<[string, object]>([
    [`saying "${text}"`, { body: text }],
    [`with title "${text}" and body "Hello"`, { title: text, body: 'Hello' }],
    [`with title "Hello" and body "${text}"`, { title: 'Hello', body: text }]
  ])
  return does(`Send a push to user ${name} ${form}`, pushes({ projectUserId: name }, content))
}

/** Values keep the spelling of the text, unless a number or a truth value has the same meaning. */
export const values: Class = classOf('spelling of values', 330, (draw, index) => {
  if (index % 6 === 0) return pushCase(draw)
  const { text, action } = bareOrder(draw)
  const key = draw.pick(['code', 'app_version', 'label', 'ref', 'zip', 'amount'])
  const meaning = (value: unknown) => ({ ...action, data: { ...action.data, properties: { [key]: value } } })
  const order = (written: string) => `${text} with ${key}=${written}`
  if (index % 6 === 1) {
    const [written, ...meant] = draw.pick(either)
    return mayDo(order(written), ...meant.map(meaning))
  }
  if (index % 6 === 2) {
    const value = draw.pick(quoted)
    return does(order(`"${value}"`), meaning(value))
  }
  if (index % 6 === 3) {
    const [written, value] = draw.pick(asMeant)
    return does(order(written), meaning(value))
  }
  const value = draw.pick(asWritten)
  return does(order(value), meaning(value))
})

import type { Draw } from './draw.ts'

export const names = ['ana', 'bo', 'cleo', 'dmitri', 'jane', 'kofi', 'mei', 'otto', 'priya', 'samir', 'tess', 'yusuf']
export const campaigns = ['welcome', 'gift', 'spring-sale', 'black_friday', 'win-back-2', 'newsletter.v2', 'onboarding']
export const events = ['purchase', 'signup', 'level_up', 'cart.add', 'checkout:done', 'app-opened', 'refund']
const foreign = [
  'мария',
  '田中太郎',
  'josé',
  'Zoë',
  'Ωmega',
  'محمد',
  '김민수',
  'şükrü',
  'łukasz',
  'Jürgen',
  'ひろし',
  'אבי'
]
const spaced = [
  'ana maria',
  'Dr. Who',
  'user 7',
  'bo, the second',
  'Team Blue (EU)',
  '田中 太郎',
  "O'Brien",
  'a#b&c',
  '50% club'
]

const drawn: ((draw: Draw) => string)[] = [
  (draw) => draw.pick(names),
  (draw) => `${draw.pick(names)}.${draw.pick(['lopez', 'king', 'sato'])}@example.${draw.pick(['com', 'org', 'co.uk'])}`,
  (draw) => `${draw.pick(names)}+${draw.pick(['test', 'eu', 'x1'])}@mail.example.com`,
  (draw) => [8, 4, 4, 4, 12].map((digits) => draw.hex(digits)).join('-'),
  (draw) => `${draw.pick(['auth0', 'google-oauth2', 'apple'])}|${draw.hex(10)}`,
  (draw) => String(1_000 + draw.below(900_000)),
  (draw) => `${draw.pick(['user', 'usr', 'cust', 'U'])}${draw.pick(['_', '-', '.', ':'])}${draw.hex(6)}`,
  (draw) => `${draw.pick(['org', 'team', 'eu'])}${draw.pick([':', '/'])}${draw.pick(['a', 'crm'])}/${draw.pick(names)}`,
  (draw) => draw.pick(foreign),
  (draw) => draw.pick(names).toUpperCase(),
  (draw) => `${draw.pick(names)}-${draw.below(100)}`
]

/** An id, and its form in a text: an id with other characters stands in quotes. */
export interface Written {
  id: string
  text: string
}

export function anyId(draw: Draw): Written {
  if (draw.chance(12)) {
    const id = draw.pick(spaced)
    return { id, text: `"${id}"` }
  }
  const id = draw.pick(drawn)(draw)
  return { id, text: draw.chance(8) ? `"${id}"` : id }
}

export function plainId(draw: Draw): Written {
  const id = draw.chance(70) ? draw.pick(names) : `${draw.pick(names)}-${draw.below(100)}`
  return { id, text: id }
}

export const deviceOf = (draw: Draw) => `${draw.pick(names)}-${draw.pick(['phone', 'tablet', 'ipad', 'pixel8'])}`

/** Names of properties with values of several kinds, in the form of a text and as JSON. */
export const properties: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['plan', 'premium', 'premium'],
  ['plan', 'gold', 'gold'],
  ['age', '31', 31],
  ['score', '12.5', 12.5],
  ['balance', '-3', -3],
  ['visits', '0', 0],
  ['vip', 'true', true],
  ['subscribed', 'false', false],
  ['city', 'Lisbon', 'Lisbon'],
  ['city', '"New York"', 'New York'],
  ['language', 'pt-BR', 'pt-BR'],
  ['email', 'ana@example.com', 'ana@example.com'],
  ['favorite_color', 'blue', 'blue'],
  ['latest_order', 'A-1001', 'A-1001'],
  ['country', 'DE', 'DE'],
  ['first_name', '"Ana Maria"', 'Ana Maria'],
  ['coupon', 'SPRING', 'SPRING'],
  ['loyalty.tier', 'silver', 'silver'],
  ['amount', '99', 99],
  ['currency', 'EUR', 'EUR']
]

/** One to three properties: ` with plan=gold and age=31`, and their values. */
export function someProperties(draw: Draw, most = 3): { text: string; meant: Record<string, unknown> } {
  const chosen = draw.some(properties, 1 + draw.below(most))
  const unique = chosen.filter(([name], index) => chosen.findIndex(([other]) => other === name) === index)
  const written = unique.map(([name, text]) => `${name}=${text}`)
  const last = written.pop()!
  const list = written.length === 0 ? last : `${written.join(draw.chance(50) ? ', ' : ' and ')} and ${last}`
  return { text: ` with ${list}`, meant: Object.fromEntries(unique.map(([name, , value]) => [name, value])) }
}

export const titles = [
  'Hello',
  'Your order',
  'Big news 🎉',
  '50% off!',
  'Ça va?',
  'お知らせ',
  'Ready: gate B12',
  "It's here"
]
/** Some sound like orders; between quotes they are only texts. */
export const bodies = [
  'See you tomorrow',
  'Your order is on its way',
  "Don't miss it",
  'Do not reply to this message',
  'Only today, except for sale items',
  'If you need help, call us',
  'Hi {{ user.first_name }}, welcome',
  'Cancel: tap here',
  'Starts at 17:00',
  'Are you there?',
  'Thanks for plan=gold',
  'こんにちは、元気ですか？',
  'Привет!',
  'Create user bo',
  'Yes or no?'
]

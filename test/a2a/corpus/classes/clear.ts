import { type Case, type Class, classOf, does } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { broadcasts, clearOrder, small } from '../orders.ts'
import { campaigns, someProperties } from '../things.ts'

const manners: ((order: string) => string)[] = [
  (order) => `Please ${small(order)}`,
  (order) => `please ${small(order)}`,
  (order) => `Please, ${small(order)}`,
  (order) => `${order} please`,
  (order) => `${order}, please`,
  (order) => `Could you please ${small(order)}?`,
  (order) => `Can you ${small(order)}?`,
  (order) => `Hi, please ${small(order)}`,
  (order) => `Hello! ${order}`
]

/** The text in capitals up to the first id, which keeps its spelling. */
const loud = (order: string) =>
  order.replace(
    /^(?:Create user|Track event|Trigger campaign|Send a push(?: notification)? to (?:user|device))/,
    (verb) => verb.toUpperCase()
  )

function styled(draw: Draw, order: string): string {
  const dressed = draw.chance(30) ? draw.pick(manners)(order) : draw.pick([order, order, small(order), loud(order)])
  return `${dressed}${/[?]$/.test(dressed) ? '' : draw.pick(['', '', '.', '!', '\n'])}`
}

function toEverybody(draw: Draw): Case {
  const campaign = draw.pick(campaigns)
  const { text, meant } = draw.chance(30) ? someProperties(draw, 2) : { text: '', meant: undefined }
  const order = `Trigger campaign ${campaign} for ${draw.pick(['all users', 'everyone'])}${text}`
  const yes = draw.pick(['yes', 'Yes', 'YES', 'yes.', 'Yes!'])
  return does([styled(draw, order), yes], broadcasts(campaign, meant))
}

/** Clear orders in the forms of the docs, in many styles. */
export const clear: Class = classOf('clear orders', 1_000, (draw) => {
  if (draw.chance(6)) return toEverybody(draw)
  const { text, action } = clearOrder(draw)
  return does(styled(draw, text), action)
})

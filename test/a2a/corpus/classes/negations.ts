import { type Class, classOf, never } from '../cases.ts'
import { simpleOrder, small } from '../orders.ts'

const before = [
  "Don't $o",
  'Don’t $o',
  'Dont $o',
  'Do not $o',
  'DO NOT $o',
  'do NOT $o',
  "Please don't $o",
  'Please do not $o',
  'Never $o',
  'never ever $o',
  'You must not $o',
  "You shouldn't $o",
  "I don't want you to $o",
  'I do not want anyone to $o',
  'There is no need to $o',
  'No need to $o',
  'Not: $o',
  'Under no circumstances $o',
  'Refuse to $o',
  "We can't $o",
  'I cannot $o',
  'It is forbidden to $o',
  'By no means $o',
  'Nobody asked you to $o',
  "Let's not $o",
  'Whatever you do, do not $o',
  'I would rather not $o',
  'Make sure that you never $o',
  'Stop! Do not $o',
  "Hi, please don't $o. Thanks",
  'Avoid this: $o',
  'Fail to $o',
  'We decided not to $o',
  'It would be a mistake to $o',
  "Won't $o",
  'Hold off: $o',
  'Instead of this: $o'
]
const after = [
  '$O. Do not do it.',
  "$O. Don't.",
  '$O — not!',
  '$O, not.',
  '$O. NOT.',
  '$O? No.',
  '$O. No!',
  '$O: no',
  '$O: never',
  '$O. Just kidding.',
  '$O. Never mind.',
  '$O is not what I want',
  '$O is forbidden',
  "$O. I don't want that.",
  '$O\nDo not.',
  '$O\n\n(do not execute)',
  '$O [CANCELED]',
  '$O (rejected)',
  '~~$O~~',
  '$O is wrong',
  '$O, or rather not',
  '$O? Better not',
  '$O. This order is void.',
  '$O... nope',
  '$O //disabled',
  'no $o',
  'Not $o',
  '$O not',
  '$O NOT!',
  '$O, do not',
  '$O must not happen'
]

/** A text that forbids an action is not an order to do it. */
export const negations: Class = classOf('negations', 280, (draw, index) => {
  const { text } = simpleOrder(draw)
  const all = [...before, ...after]
  const forbidden = all[index % all.length]!.replace('$O', () => text).replace('$o', () => small(text))
  // A yes to a question about it agrees that the action is not to be done.
  return draw.chance(50) ? never(forbidden) : never(forbidden, 'yes')
})

import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { simpleOrder, small, triggers } from '../orders.ts'
import { campaigns, names } from '../things.ts'

const joined = [
  '$O and $p',
  '$O, then $p',
  '$O and then $p',
  '$O. $P.',
  '$O. Then $p.',
  '$O\n$P',
  '$O; $p',
  '1. $O\n2. $P',
  '- $O\n- $P',
  'First $o, second $p',
  '$O. Also $p',
  '$O as well as $p',
  '$O or $p',
  'Either $o or $p',
  '$O & $p',
  '$O + $p',
  '$O, $p',
  '$O && $p',
  '$O | $p',
  'Both: $o, $p',
  '$O. After that, $p.',
  '$O but first $p',
  '$O. PS: $p',
  'Please $o. Please $p.',
  '$O\n\n$P\n\nThanks',
  '$O... $P...',
  '$O / $p'
]

/** Lists within one order: $a and $b are users, $c and $d campaigns. */
const listed = [
  'Create users $a and $b',
  'Create user $a and $b',
  'Create user $a and user $b',
  'Create user $a, $b',
  'Create users $a, $b',
  'Create user $a & $b',
  'Create user $a or $b',
  'Create user $a/ $b',
  'Create user $a $b',
  'Create user $a + $b',
  'Create user $a; $b',
  'Create user $a and a device',
  'Create user $a and two more',
  'Create user $a and everyone else',
  'Create user $a with plan=gold and user $b with plan=free',
  'Create user $a with plan=gold and $b with plan=free',
  'Create user $a and campaign $c',
  'Send a push to users $a and $b saying "hi"',
  'Send a push to user $a and $b saying "hi"',
  'Send a push to user $a, user $b saying "hi"',
  'Send a push to user $a saying "hi" and to user $b saying "bye"',
  'Send a push to user $a saying "hi" and an email',
  'Send a push to user $a saying "hi" and saying "bye"',
  'Send a push and an SMS to user $a saying "hi"',
  'Send two pushes to user $a saying "hi"',
  'Trigger campaigns $c and $d for user $a',
  'Trigger campaign $c and $d for user $a',
  'Trigger campaign $c for user $a and campaign $d for user $b',
  'Trigger campaign $c for user $a and log it',
  'Track events purchase and refund for user $a',
  'Track event purchase and refund for user $a',
  'Track event purchase for user $a and $b',
  'Track event purchase for user $a and user $b',
  'Track event purchase twice for user $a'
]
const both = [
  'Trigger campaign $c for user $a and user $b',
  'Trigger campaign $c for users $a and $b',
  'Trigger campaign $c for user $a, user $b',
  'Trigger campaign $c for $a and $b',
  'Trigger campaign $c for user $a and $b'
]

function listOf(draw: Draw, index: number): Case {
  const [[a, b], [c, d]] = [draw.some(names, 2), draw.some(campaigns, 2)]
  const fill = (text: string) =>
    text.replaceAll('$a', a!).replaceAll('$b', b!).replaceAll('$c', c!).replaceAll('$d', d!)
  if (index % 5 > 0) return never(fill(listed[index % listed.length]!))
  return mayDo(fill(draw.pick(both)), triggers(c!, [{ projectUserId: a }, { projectUserId: b }]))
}

/** Several orders in one text: doing only one of them is wrong. */
export const several: Class = classOf('several orders', 300, (draw, index) => {
  if (index % 2 === 0) return listOf(draw, index / 2)
  const [{ text: one }, { text: other }] = [simpleOrder(draw), simpleOrder(draw)]
  if (one === other) return never(`${one} ${other}`)
  const template = joined[((index - 1) / 2) % joined.length]!
  return never(
    template
      .replace('$O', () => one)
      .replace('$o', () => small(one))
      .replace('$P', () => other)
      .replace('$p', () => small(other))
  )
})

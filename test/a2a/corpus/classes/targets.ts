import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import { createsUser, pushes, tracks, triggers } from '../orders.ts'
import { campaigns, names } from '../things.ts'

/** $a and $b are users, $d is a device, $c a campaign. */
const unclear = [
  'Send a push to user $a from user $b saying "hi"',
  'Send a push from user $b to user $a saying "hi"',
  'Send a push to user $a on behalf of user $b saying "hi"',
  'Send a push about user $b to user $a saying "hi"',
  'Send a push to the manager of user $a saying "hi"',
  'Send a push to the friends of user $a saying "hi"',
  'Send a push to user $a\'s friends saying "hi"',
  'Send a push to user $a\'s phone saying "hi"',
  'Send a push to user $a via $b saying "hi"',
  'Send a push to user $a cc user $b saying "hi"',
  'Send a push to user $a saying "hi" like user $b',
  'Send a push to user $a saying "hi" from user $b',
  'Send a push to a user like $a saying "hi"',
  'Send a push to all devices except $d of user $a saying "hi"',
  'Send user $a a push to user $b saying "hi"',
  'Send a push to everyone near user $a saying "hi"',
  'Send a push to user $a or device $d saying "hi"',
  'Trigger campaign $c for user $a from user $b',
  'Trigger campaign $c for user $a to user $b',
  'Trigger campaign $c from user $b for user $a',
  'Trigger campaign $c for user $a instead of all users',
  'Trigger campaign $c for users like $a',
  'Trigger campaign $c for the friends of user $a',
  'Trigger campaign $c for user $a by $b',
  'Trigger campaign $c for user $a in the name of user $b',
  'Trigger campaign $c for user $a as user $b',
  'Trigger campaign $c of user $b for user $a',
  'Trigger campaign $c for the segment of user $a',
  'Trigger campaign for user $a',
  'Trigger campaign $c for',
  'Track event purchase for user $a by user $b',
  'Track event purchase of user $b for user $a',
  'Track event purchase from user $b for user $a',
  'Track event purchase for user $a with user $b',
  'Track event purchase for user $a to user $b',
  'Track event for user $a',
  'Track spending for user $a',
  'Track the progress of user $a',
  'Track activity for user $a',
  'Track user $a',
  'Create user $a for user $b',
  'Create user $a from user $b',
  'Create user $a like user $b',
  'Create user $a as $b',
  'Create user $a with user $b',
  'Create user $a by $b',
  'Create user $a under user $b',
  'Create user $a into $b',
  'Create user $a of team $b',
  'Create a user dashboard',
  'Create a user guide for $a',
  'Create user accounts',
  'Create user stories about $a',
  'Create a copy of user $a',
  'Rename user $a to $b',
  'Merge user $a into user $b',
  'Replace user $a by user $b',
  'Copy user $a to user $b',
  'Move user $a to $b',
  'Delete user $a and create user $b',
  'Create user $a on device $d',
  'Link device $d to user $a',
  'Create device $d for user $a',
  'Create campaign $c for user $a',
  'Send campaign to user $a',
  'Send an email to user $a saying "hi"',
  'Send an SMS to user $a saying "hi"',
  'Delete user $a',
  'Delete campaign $c',
  'Stop campaign $c for user $a',
  'Pause campaign $c',
  'Block user $a',
  'Unsubscribe user $a'
]

/** An order with a second name in it: the wrong user must not get it, and no recipient may be lost. */
export const targets: Class = classOf('second names', 260, (draw, index): Case => {
  const [[a, b], c] = [draw.some(names, 2) as [string, string], draw.pick(campaigns)]
  const deviceId = `${b}-phone`
  const fill = (text: string) =>
    text.replaceAll('$a', a).replaceAll('$b', b).replaceAll('$c', c).replaceAll('$d', deviceId)
  if (index % 8 > 0) return never(fill(unclear[index % unclear.length]!))
  const reasonable: [string, ...Parameters<typeof mayDo>[1][]][] = [
    ['For user $a, create user $b with plan=gold', createsUser(b, { plan: 'gold' })],
    ['Create user $a instead of $b', createsUser(a)],
    ['Create event purchase for user $a', tracks('purchase', { projectUserId: a })],
    ['Create user dashboard', createsUser('dashboard')],
    ['Trigger campaign $c for user $a on device $d', triggers(c, [{ deviceId }])],
    ['Track event purchase for user $a on device $d', tracks('purchase', { deviceId })],
    ['Send a push to user $a on device $d saying "hi"', pushes({ deviceId }, { body: 'hi' })],
    ['Send a push to device $d of user $a saying "hi"', pushes({ deviceId }, { body: 'hi' })],
    ['Trigger campaign $c for user all', triggers(c, [{ projectUserId: 'all' }])],
    ['Create user $a-and-$b', createsUser(`${a}-and-${b}`)]
  ]
  const [text, ...actions] = draw.pick(reasonable)
  return mayDo(fill(text), ...actions)
})

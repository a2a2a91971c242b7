import { type Action, type Case, type Class, classOf, does, mayDo, never } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { small } from '../orders.ts'
import { anyId, campaigns, plainId } from '../things.ts'

const idOfTrigger = (draw: Draw) => `0199${draw.hex(4)}-${draw.hex(4)}-7${draw.hex(3)}-8${draw.hex(3)}-${draw.hex(12)}`

/** The published forms of the skills that read. */
function look(draw: Draw): [text: string, action: Action] {
  const [user, triggerId, campaignId] = [anyId(draw), idOfTrigger(draw), draw.pick(campaigns)]
  const who = { projectUserId: user.id }
  const of = (skill: string, data: Record<string, unknown>): Action => ({ skill, data })
  return draw.pick<[string, Action]>([
    [`Find user ${user.text}`, of('find-user', who)],
    ['Find the user with email="ana@example.com"', of('find-user', { property: 'email', value: 'ana@example.com' })],
    ['List campaigns', of('list-campaigns', {})],
    [`Preview campaign ${campaignId} for all users`, of('preview-campaign', { campaignId, broadcast: true })],
    [`Preview campaign ${campaignId} for user ${user.text}`, of('preview-campaign', { campaignId, targets: [who] })],
    [`Get trigger ${triggerId}`, of('get-trigger', { triggerId })],
    [`Why did user ${user.text} not get trigger ${triggerId}?`, of('explain-delivery', { ...who, triggerId })],
    [`List messages of user ${user.text}`, of('list-messages', who)]
  ])
}

/** Texts with the words of an order to cancel a trigger that are no such order. */
const kept = [
  "Don't cancel trigger $t",
  'Do not cancel trigger $t',
  'Never cancel trigger $t',
  'Should I cancel trigger $t?',
  'How do I cancel trigger $t?',
  'Did you cancel trigger $t?',
  'Why did you cancel trigger $t?',
  'Cancel trigger $t if it is still running',
  'Cancel trigger $t unless it has ended',
  'Cancel trigger $t tomorrow',
  'Cancel trigger $t at 17:00',
  'Cancel trigger $t and $u',
  'Cancel triggers $t and $u',
  'Cancel trigger $t except for user ana',
  'Cancel trigger $t for user ana',
  'Cancel trigger $t, no wait, $u',
  'Cancel trigger $t. Stop: mistake',
  'Cancel trigger $t. Never mind.',
  'Cancel trigger $t --dry-run',
  'Cancel trigger $t dry-run=true',
  'Dry run: cancel trigger $t',
  'He said "Cancel trigger $t"',
  'Cancel trigger $t，不要',
  'Cancel trigger $t؟لا',
  'Cancel trigger $t or $u',
  'Cancel trigger $t only for bo',
  'Cancel trigger $t where campaign=gift',
  'Cancel all triggers',
  'Cancel the last trigger',
  'Cancel trigger',
  'Cancel campaign gift',
  'Cancel',
  'Cancel everything',
  'Uncancel trigger $t',
  'Get trigger $t and cancel it',
  'Find user ana and create user bo',
  'List campaigns and trigger the first one for all users',
  'Preview campaign gift for all users, then trigger it',
  'Find user ana. If there is none, create user ana',
  'Why did user ana not get trigger $t? Send it again.'
]

/** The skills that read, and the one that cancels a trigger. */
export const looking: Class = classOf('looking and canceling', 240, (draw, index): Case => {
  const [triggerId, other] = [idOfTrigger(draw), idOfTrigger(draw)]
  const cancels: Action = { skill: 'cancel-trigger', data: { triggerId } }
  switch (index % 4) {
    case 0: {
      const text = `Cancel trigger ${triggerId}`
      if (draw.chance(60)) return does(draw.pick([text, small(text), `Please ${small(text)}`, `${text}.`]), cancels)
      const own = [`Stop trigger ${triggerId}`, `Cancel the trigger "${triggerId}"`, `Abort trigger ${triggerId} now`]
      return mayDo(draw.pick(own), cancels)
    }
    case 1: {
      const [text, action] = look(draw)
      return does(draw.pick([text, text, small(text), `Please ${small(text)}`]), action)
    }
    case 2: {
      const { id } = plainId(draw)
      const finds: Action = { skill: 'find-user', data: { projectUserId: id } }
      const own = [`Show user ${id}`, `Look up user ${id}`, `Does user ${id} exist?`, `Who is ${id}?`, `find ${id}`]
      return mayDo(draw.pick(own), finds)
    }
    default:
      return never(kept[(index >> 2) % kept.length]!.replace('$t', triggerId).replace('$u', other))
  }
})

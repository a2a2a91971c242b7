import { type Class, classOf, mayDo, never } from '../cases.ts'
import { simpleOrder } from '../orders.ts'

const taken = [
  'Cancel: mistake',
  'Cancel: yes',
  'cancel: wrong user',
  'Canceled: true',
  'Stop: mistake',
  'Stop: wrong campaign',
  'Abort: typo',
  'Undo: yes',
  'Ignore: typo',
  'Ignore: all of it',
  'Void: true',
  'Status: canceled',
  'Status: draft',
  'Status: rejected',
  'Approved: no',
  'Approval: pending',
  'Confirmed: no',
  'Execute: no',
  'Execute: false',
  'Send: no',
  'Send: false',
  'Send: tomorrow',
  'Mode: test',
  'Mode: dry-run',
  'Dry-run: true',
  'Test: true',
  'When: tomorrow',
  'When: 17:00',
  'Time: 17:00',
  'Date: 2026-12-24',
  'Schedule: monday',
  'Delay: 1h',
  'Except: bo',
  'Exclude: bo',
  'Excluded: bo',
  'Without: bo',
  'Not: bo',
  'Only: premium',
  'If: premium',
  'Unless: opted-out',
  'Condition: premium',
  'Filter: premium',
  'Note: do not send',
  'Note: draft',
  'Attention: wrong user',
  'Warning: mistake',
  'Correction: bo',
  'Edit: bo',
  'Instead: bo',
  'Hold: yes',
  'Wait: 10m',
  'Priority: later',
  'Oops: wrong',
  'Retract: true',
  'Rollback: yes',
  'Disregard: yes'
]
const harmless = ['Thanks: Bo', 'Signed: Bo', 'Note: thanks', 'Ticket: CRM-77', 'Priority: high', 'Urgent: yes']
const joints = ['. ', '. ', '\n', ' ', ', ', '; ', ' - ', ' (', '\n\n']

/** `Word: word` after an order is a remark about the order, and not a property. */
export const afterwords: Class = classOf('words after a colon', 240, (draw, index) => {
  const { text, action } = simpleOrder(draw)
  const joint = draw.pick(joints)
  const joined = (word: string) => `${text}${joint}${word}${joint === ' (' ? ')' : ''}`
  if (index % 10 === 0) return mayDo(joined(draw.pick(harmless)), action)
  return never(joined(taken[index % taken.length]!))
})

import { type Class, classOf, mayDo, never } from '../cases.ts'
import { simpleOrder, small } from '../orders.ts'

const before = [
  'Tomorrow, $o',
  'Tomorrow $o',
  'At 5pm $o',
  'At 17:00, $o',
  'In 10 minutes, $o',
  'In an hour $o',
  'Next Monday $o',
  'Every day at noon, $o',
  'Every Friday $o',
  'Each month, $o',
  'Daily: $o',
  'Later, $o',
  'Later today $o',
  'Tonight, $o',
  'On 2026-12-24 $o',
  'On December 24th, $o',
  'After lunch $o',
  'From next week on, $o',
  'Schedule: $o',
  'Schedule this for tomorrow: $o',
  'Wait 5 minutes, then $o',
  'Remind me to $o',
  'Twice a day $o',
  'Until Friday, $o',
  'cron 0 9 * * 1: $o',
  'Yesterday $o',
  'Eventually $o',
  'At the end of the quarter $o'
]
const after = [
  '$O tomorrow',
  '$O, tomorrow',
  '$O. Tomorrow.',
  '$O at 17:00',
  '$O at 5pm',
  '$O at 9 am CET',
  '$O in 10 minutes',
  '$O in an hour',
  '$O next week',
  '$O next Monday at noon',
  '$O on Friday',
  '$O on 2026-12-24',
  '$O on 24/12/2026',
  '$O every day',
  '$O every Friday at 9:00',
  '$O daily',
  '$O weekly',
  '$O hourly',
  '$O twice',
  '$O 3 times',
  '$O three times a day',
  '$O later',
  '$O later today',
  '$O tonight',
  '$O soon',
  '$O not now',
  '$O but not before Monday',
  '$O after 18:00',
  '$O before Christmas',
  '$O until Sunday',
  '$O by end of day, not earlier',
  '$O between 9:00 and 17:00',
  '$O with a delay of 5 minutes',
  '$O 2026-12-24T17:00:00Z',
  '$O @17:00',
  '$O (scheduled for Monday)',
  '$O. Schedule it for 17:00.',
  '$O. Not before 17:00.',
  '$O starting next month',
  '$O at midnight',
  '$O the day after tomorrow',
  '$O yesterday',
  '$O last Monday',
  '$O again and again',
  '$O once a week',
  '$O outside quiet hours'
]
/** "At once" changes nothing: orders are carried out at once anyway. */
const atOnce = [
  '$O now',
  '$O right now',
  '$O immediately',
  '$O right away',
  'Now $o',
  '$O asap',
  '$O today',
  '$O at once'
]

/** An order for a later time, or for more than one time. */
export const times: Class = classOf('times', 310, (draw, index) => {
  const { text, action } = simpleOrder(draw)
  const fill = (template: string) => template.replace('$O', () => text).replace('$o', () => small(text))
  if (index % 12 === 0) return mayDo(fill(draw.pick(atOnce)), action)
  const all = [...before, ...after]
  return never(fill(all[index % all.length]!))
})

import { type Class, classOf, mayDo, never } from '../cases.ts'
import { reachingOrder, simpleOrder } from '../orders.ts'
import { campaigns, names } from '../things.ts'

const after = [
  '$O except user bo',
  '$O except bo',
  '$O, except: bo',
  '$O except: bo',
  '$O except for bo',
  '$O exclude=bo',
  '$O, exclude=bo',
  '$O exclude: bo',
  '$O excluding bo',
  '$O with exclude=bo',
  '$O with except=bo',
  '$O without waking her up',
  '$O without her tablet',
  '$O without user bo',
  '$O other than on weekends',
  '$O but not on her tablet',
  '$O but not on weekends',
  '$O, just not on iOS',
  '$O minus the tablet',
  '$O apart from device bo-tablet',
  '$O save for her old phone',
  '$O omit=tablet',
  '$O skip=android',
  '$O, skipping Android',
  '$O leaving out the tablet',
  '$O barring objections',
  '$O with the exception of Android devices',
  '$O aside from tablets',
  '$O, iOS excluded',
  '$O (not on Android)',
  '$O. Exclude Android.',
  '$O. Leave out iOS devices.',
  '$O !android',
  '$O -android',
  '$O NOT android',
  '$O only on iOS',
  '$O on iOS only',
  '$O only to her phone',
  '$O ohne bo',
  '$O sauf bo'
]
const many = [
  'Trigger campaign $c for all users except $a',
  'Trigger campaign $c for everyone but $a',
  'Trigger campaign $c for everyone except user $a',
  'Trigger campaign $c for all users without $a',
  'Trigger campaign $c for all users exclude=$a',
  'Trigger campaign $c for all users, except: $a',
  'Trigger campaign $c for all premium users',
  'Trigger campaign $c for all users in Lisbon',
  'Trigger campaign $c for all users named $a',
  'Trigger campaign $c for most users',
  'Trigger campaign $c for all but 5 users',
  'Trigger campaign $c for 10 % of all users',
  'Trigger campaign $c for nobody',
  'Trigger campaign $c for no user'
]
/** The order already leaves out the users that the text excludes. */
const anyway = ['$O but not for bob', '$O, not for bob', '$O and no one else', '$O only', '$O, nobody else']

/** An order with an exception that no field of a skill can express. */
export const exclusions: Class = classOf('exclusions', 260, (draw, index) => {
  const { text, action } = index % 3 === 0 ? simpleOrder(draw) : reachingOrder(draw)
  if (index % 9 === 0)
    return mayDo(
      draw.pick(anyway).replace('$O', () => text),
      action
    )
  if (index % 9 === 1) return never(draw.pick(many).replace('$c', draw.pick(campaigns)).replace('$a', draw.pick(names)))
  return never(after[index % after.length]!.replace('$O', () => text))
})

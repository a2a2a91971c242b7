import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { createsUser, simpleOrder, small } from '../orders.ts'
import { plainId } from '../things.ts'

const before = [
  'If she is a customer, $o',
  'If plan=premium, $o',
  'If user bo exists, $o',
  'Unless you hear otherwise, $o',
  'In case it works, $o',
  'Provided that legal agrees, $o',
  'Assuming the budget is approved, $o',
  'Only if bo agrees, $o',
  'As long as nobody objects, $o',
  'Once the deployment is done, $o',
  'When the order ships, $o',
  'Whenever someone buys, $o',
  'As soon as the payment arrives, $o',
  'After bo confirms, $o',
  'Before you do anything else, check the plan, then $o',
  'Should the customer complain, $o',
  'Depending on the plan, $o',
  'Where allowed, $o',
  'On success, $o',
  'Given approval, $o',
  'With permission from bo, $o',
  'If and only if x > 3: $o',
  'if (plan == "premium") { $o }',
  'For users with plan=premium: $o',
  'Given that the user is active, $o',
  'Suppose the sale starts. Then $o'
]
const after = [
  '$O if she is a customer',
  '$O if plan=premium',
  '$O unless she opted out',
  '$O only if bo agrees',
  '$O where age>30',
  '$O who is premium',
  '$O when the order ships',
  '$O once the payment arrives',
  '$O as soon as it is allowed',
  '$O in case the shop is open',
  '$O provided that legal agrees',
  '$O assuming she is active',
  '$O as long as plan=premium',
  '$O while stocks last',
  '$O after bo confirms',
  '$O until the stock is gone',
  '$O depending on the plan',
  '$O subject to approval',
  '$O pending approval',
  '$O given plan=premium',
  '$O. But only if she agrees.',
  '$O. Condition: plan=premium',
  '$O, otherwise do nothing',
  '$O or else tell me',
  '$O (if not done yet)',
  '$O (unless already done)',
  '$O\nonly when active',
  '$O on condition that she pays',
  '$O except if she is new',
  '$O so long as she is active',
  '$O when plan=premium',
  '$O only for premium',
  '$O limited to premium users',
  '$O filtered by plan=premium'
]

/** For a new user these words name a property; in any other order they limit the recipients. */
const relative = [
  '$O where plan=premium',
  '$O whose plan=premium',
  '$O whose plan is premium',
  '$O who has plan=premium',
  '$O that has plan=premium',
  '$O having plan=premium'
]

function limited(draw: Draw): Case {
  const { text, action } = simpleOrder(draw)
  const written = draw.pick(relative).replace('$O', () => text)
  if (action.skill !== 'create-user') return never(written)
  const properties = { ...(action.data.properties as object | undefined), plan: 'premium' }
  return mayDo(written, { ...action, data: { ...action.data, properties } })
}

/** An order with a condition that no part of the service checks. */
export const conditions: Class = classOf('conditions', 330, (draw, index): Case => {
  if (index % 40 === 0) {
    const { id } = plainId(draw)
    return mayDo(`Create user ${id} if it does not exist`, createsUser(id))
  }
  const { text, action } = simpleOrder(draw)
  if (index % 40 === 1) return mayDo(`${text}, if possible`, action)
  if (index % 5 === 0) return limited(draw)
  const all = [...before, ...after]
  return never(all[index % all.length]!.replace('$O', () => text).replace('$o', () => small(text)))
})

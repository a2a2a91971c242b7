import { type Case, type Class, classOf, mayDo } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { broadcasts, createsUser, pushes, simpleOrder, small, tracks, triggers } from '../orders.ts'
import { campaigns, deviceOf, events, plainId } from '../things.ts'

/** $id stands for the user, $dev for a device, $ev for an event, $camp for a campaign. */
const users = [
  'Add a user $id',
  'Add user $id to the project',
  'Register $id as a new user',
  'Make a new user called $id',
  'Create a user with id $id',
  'Create a user with the id "$id"',
  'Create a new user: $id',
  'create user: $id',
  'I need a user $id',
  'We have a new customer, $id. Create the user.',
  'new user $id',
  'Set up an account for $id',
  'Create the user $id in Tidings',
  'Create user $id for me',
  'Go ahead and create user $id',
  "Let's create user $id",
  'Kindly create the user named $id',
  'user $id create',
  'create-user $id',
  '/create-user $id',
  'create_user(projectUserId="$id")',
  'skill: create-user, projectUserId: $id',
  'Use the create-user skill for $id',
  'Create a user. The id is $id.',
  'Onboard $id',
  'Create user $id now',
  'Create user $id right away!'
]
const withPlan = [
  'Create user $id with plan premium',
  'Create user $id, plan=premium',
  'Create user $id (plan=premium)',
  'Create user $id plan=premium',
  'Create user $id and set plan=premium',
  'Create user $id with plan: premium',
  'Create user $id whose plan is premium',
  'Create user $id with plan = premium',
  'Create user $id with properties plan=premium',
  'Create user $id with {"plan":"premium"}',
  'Create a premium user $id',
  'Set plan=premium for user $id',
  'Update user $id: plan=premium',
  'Give user $id the plan premium',
  'user $id should have plan=premium'
]
const eventTexts = [
  'Record the event $ev for user $id',
  'Log $ev for user $id',
  'Log event $ev for $id',
  'User $id did $ev',
  'Track $ev event for user $id',
  'Track the event $ev for user $id',
  'Track an event named $ev for user $id',
  'Track event "$ev" for user "$id"',
  'Track event: $ev, user: $id',
  'For user $id, track event $ev',
  'track-event $ev user=$id',
  'An event $ev happened for user $id',
  'Please record that user $id did $ev',
  'event $ev for user $id'
]
const campaignTexts = [
  'Start campaign $camp for user $id',
  'Run the campaign $camp for user $id',
  'Launch $camp for $id',
  'Fire the $camp campaign for user $id',
  'Trigger the campaign "$camp" for user $id',
  'Trigger $camp for user $id',
  'Send campaign $camp to user $id',
  'Send the $camp campaign to $id',
  'Kick off campaign $camp for the user $id',
  'trigger-campaign $camp for $id',
  'Trigger campaign $camp to user $id',
  'Trigger campaign $camp with user $id as the target',
  'For user $id trigger campaign $camp',
  'Please have user $id receive the campaign $camp',
  'Campaign $camp for user $id, please',
  'Trigger campaign with id $camp for user with id $id'
]
const pushTexts = [
  'Push "Hello there" to user $id',
  'Notify user $id: "Hello there"',
  'Tell user $id "Hello there"',
  'Send "Hello there" to user $id',
  'Send user $id a push saying "Hello there"',
  'Send a push notification saying "Hello there" to user $id',
  'Send a notification to user $id with the text "Hello there"',
  'Send a push to user $id: "Hello there"',
  'Send a push to user $id with the body "Hello there"',
  'Send a push to user $id that says "Hello there"',
  'Message user $id "Hello there"',
  'Send push to user $id body="Hello there"',
  'Send a push to $id saying "Hello there"',
  'Let user $id know: "Hello there"',
  'Send a push to user $id saying Hello there',
  "Send a push to user $id saying 'Hello there'"
]
const broadcastTexts = [
  'Trigger campaign $camp for everybody',
  'Send campaign $camp to all users',
  'Launch $camp for everyone',
  'Broadcast campaign $camp',
  'Trigger campaign $camp for the whole segment'
]

const openings = [
  'You are a messaging assistant. Your task is: ',
  'Task: ',
  'Hey team, ',
  'Hi there! Hope you are well. ',
  'As agreed, ',
  'Good morning. Next, ',
  'OK, ',
  'Action required: ',
  "I'd like you to ",
  'I want you to ',
  'You should ',
  'We need to ',
  'Step 2: ',
  'Assistant: ',
  '> ',
  '* '
]
const closings = [
  ' Thank you!',
  ' Thanks a lot.',
  ' Let me know when it is done.',
  ' Reply with the id.',
  '\n\nBest regards,\nThe CRM agent',
  ' 🙏',
  ' asap',
  ' immediately',
  ' (ticket CRM-1042)',
  ' — it is urgent'
]

function own(draw: Draw): Case {
  const [{ id }, campaign, event, deviceId] = [plainId(draw), draw.pick(campaigns), draw.pick(events), deviceOf(draw)]
  const who = { projectUserId: id }
  const fill = (text: string) =>
    text.replaceAll('$id', id).replaceAll('$dev', deviceId).replaceAll('$ev', event).replaceAll('$camp', campaign)
  const make = draw.pick([
    () => mayDo(fill(draw.pick(users)), createsUser(id)),
    () => mayDo(fill(draw.pick(withPlan)), createsUser(id, { plan: 'premium' })),
    () => mayDo(fill(draw.pick(eventTexts)), tracks(event, who)),
    () => mayDo(fill(draw.pick(campaignTexts)), triggers(campaign, [who])),
    () => mayDo(fill(draw.pick(pushTexts)), pushes(who, { body: 'Hello there' })),
    () => mayDo([fill(draw.pick(broadcastTexts)), 'yes'], broadcasts(campaign))
  ])
  return make()
}

function dressed(draw: Draw): Case {
  const { text, action } = simpleOrder(draw)
  if (draw.chance(50)) return mayDo(draw.pick(openings) + small(text), action)
  return mayDo(`${text}.${draw.pick(closings)}`, action)
}

/** Clear orders in words that no document publishes: both the right action and a question are correct. */
export const natural: Class = classOf('own wording', 450, (draw) => (draw.chance(75) ? own(draw) : dressed(draw)))

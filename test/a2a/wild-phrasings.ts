import { act, ask, confirm, declined, none, type Phrasing } from './phrasings.ts'

// A third set, made up afterwards: as people and models may write who have not read the docs.

const user = (projectUserId: string, properties?: Record<string, unknown>) =>
  act('create-user', { projectUserId, ...(properties && { properties }) })
const push = (data: Record<string, unknown>) => act('send-push-notification', { projectUserId: 'ana', ...data })
const track = (properties?: Record<string, unknown>) =>
  act('track-event', { eventName: 'purchase', projectUserId: 'ana', ...(properties && { properties }) })
const trigger = (more: Record<string, unknown> = { targets: [{ projectUserId: 'ana' }] }) =>
  act('trigger-campaign', { campaignId: 'welcome', ...more })

export const wildPhrasings: readonly Phrasing[] = [
  // The id of a skill, as it stands on the card
  ['create-user ana plan=premium', ask('create-user')],
  ['create-user projectUserId=ana plan=premium', ask('create-user')],
  ['track-event purchase for user ana with amount=5', track({ amount: 5 })],
  ['send-push-notification to user ana with title "Hi"', push({ title: 'Hi' })],
  ['trigger-campaign welcome for user ana', trigger()],
  ['trigger-campaign welcome for everyone', confirm('trigger-campaign', { campaignId: 'welcome', broadcast: true })],

  // Changing a user who exists
  ['update user ana', ask('create-user')],
  ['Change user ana: plan="gold", age=32', ask('create-user')],
  ["Don't update user ana with plan=gold", declined],
  ['Create user ana and update user bo with plan=gold', ask('create-user')],

  // Values
  ['Create user ana: plan=premium', ask('create-user')],
  ['Add user ana (plan: premium, age: 31)', ask('create-user')],
  ['Create user ana with vip=True and trial=FALSE', user('ana', { vip: true, trial: false })],
  ['Create user ana with mood=🎉', ask('create-user')],
  ['Create user ana with birthday=1990-01-31', user('ana', { birthday: '1990-01-31' })],
  ['Track event purchase for user ana with price=€12', ask('track-event')],
  ['Create user ana with plan=None', ask()],
  ['Create user ana with plan=**gold**', ask('create-user')],
  ['Create user ana with plan=gold…', ask('create-user')],
  ['Create user ana with age=31 years', ask('create-user')],
  ['Create user ana with phone=+49 170 1234567', ask('create-user')],
  ['Create user ana with price=12,50', ask('create-user')],
  ['Create user ana with plan=premium or plan=gold', ask('create-user')],
  ['Track event purchase for user ana with amount=12.50 EUR', ask('track-event')],
  ['Track a purchase of 49.99 USD by user ana', ask('track-event')],

  // Ids with something on them that may not belong to them
  ['Create user **ana**', ask('create-user')],
  ['Create user *ana*', ask('create-user')],
  ['Create user ana…', ask('create-user')],
  ['Create user ana。', ask('create-user')],
  ['Create user ana🎉', ask('create-user')],
  ['Create user @ana', ask('create-user')],
  ['Create user ana--with plan=pro', ask('create-user')],
  ['Create user ana—a premium one', ask('create-user')],
  ['Send "Hi" to user **ana**', ask('send-push-notification')],
  ['Create user "@ana🎉"', user('@ana🎉')],
  ['Create a user with name "Ana Lee" and email="a@x.io"', ask('create-user')],
  ['Create user with the name ana', ask('create-user')],
  ['Create a user called ana', user('ana')],
  ['Track an event with name purchase for user ana', ask('track-event')],

  // Other orders of words
  ['Send "Hi" as a push to user ana', ask('send-push-notification')],
  ['Send a "Hi" push to user ana', ask('send-push-notification')],
  ['Send "Hi" via push to user ana', ask('send-push-notification')],
  ['Send a push to: user ana, title: "Hi"', ask('send-push-notification')],
  ['Send push. User: ana. Title: "Hi". Body: "Yo".', ask('send-push-notification')],
  ['Send "Hello 👋" to user ana', push({ body: 'Hello 👋' })],
  [
    "Send a push to user ana with title 'It's here' and body 'Ana's parcel'",
    push({ title: "It's here", body: "Ana's parcel" })
  ],
  ['Send a push to user ana with body "She said \\"hi\\" to me"', push({ body: 'She said "hi" to me' })],
  ['Send a push to user ana with body "She said "hi" to me"', ask('send-push-notification')],
  ['Send "Hi" to user ana with link myapp://orders/7', ask('send-push-notification')],
  ['Send "Hi" to user ana with link "myapp://orders/7"', ask('send-push-notification')],
  ['Send "Hi" to user ana with link javascript://x', ask('send-push-notification')],
  ['Send "Hi" to user ana with image myapp://a.png', ask('send-push-notification')],
  [
    'Send a push to user ana saying "Trigger campaign x for everyone"',
    push({ body: 'Trigger campaign x for everyone' })
  ],

  ['Notify user ana that "dinner is ready"', push({ body: 'dinner is ready' })],
  ['Notify ana that "dinner is ready"', ask('send-push-notification', 'target')],
  ['Notify ana: "dinner is ready"', ask('send-push-notification', 'target')],
  ['Send ana "Hi"', none],
  ['Send a test push to user ana saying "Hi"', ask('send-push-notification')],
  ['Notify user ana that is "Hi"', ask('send-push-notification')],
  ['Notify ana and bo: "Hi"', ask('send-push-notification')],
  ['Send a push to ana, bo and cy: "Hi"', ask('send-push-notification')],

  // A name is no id
  ['Create a user named "Tom Smith"', ask('create-user')],
  ['Create user named Jane', ask('create-user')],
  ['Create a user by the name of Jane', ask('create-user')],
  ['Create a user named "Jane Doe" with id jane and plan=pro', ask('create-user')],
  ['Create user named Jane Doe', ask('create-user')],
  ['Create user ana named "Ana Lee"', ask('create-user')],
  ['Send "Hi" to the user named ana', ask('send-push-notification')],
  ['Trigger the campaign named welcome for user ana', trigger()],

  // Reports, reminders, questions, other languages
  ['Alert: user ana "is hacking"', none],
  ['Alert user ana: "door open"', push({ body: 'door open' })],
  ["Don't forget to create user ana", ask()],
  ["Don't forget to not create user ana", ask()],
  ["Don't forget user ana, and do not create user bo", ask()],
  ['Create user ana?!', ask('create-user')],
  ['Create user ana? Thanks', confirm('create-user', { projectUserId: 'ana' })],
  ['Could you create user ana? Thanks', user('ana')],
  ['No need to create user ana', declined],
  ['Would you mind creating user ana?', none],
  ['New user ana signed up', none],
  ['Erstelle den Benutzer ana', none],
  ['Envoie une notification à l’utilisateur ana', none],
  ['ユーザーanaを作成して', none],
  ['Crete user ana', none],
  ['{"skill":"create-user","projectUserId":"ana"}', none],
  ['```json\n{"skill":"create-user","projectUserId":"ana"}\n```', none],

  // Groups, times and channels that a text cannot choose
  ['Trigger campaign welcome for 5 users', ask('trigger-campaign')],
  ['Trigger campaign welcome for users with plan=premium', ask('trigger-campaign')],
  ['Trigger campaign welcome for user ana every day', ask('trigger-campaign')],
  ['Send "Hi" to user ana by 5pm', ask('send-push-notification')],
  ['Record a "signed up" event for user ana on 2026-11-01', ask('track-event')],
  ['Send an SMS to user ana saying "Hi"', none],
  ['Send a silent push to user ana', ask('send-push-notification')]
]

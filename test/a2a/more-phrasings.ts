import { act, ask, confirm, declined, none, type Phrasing } from './phrasings.ts'

// The second half of the set. Its traps are meant to make a reader act that should not.

export const morePhrasings: readonly Phrasing[] = [
  // Users
  ['Add a customer with id c-1001', act('create-user', { projectUserId: 'c-1001' })],
  ['create user ana plan=premium age=31', ask('create-user')],
  ['Hi! Please create the user "ana" for me. Thanks!', act('create-user', { projectUserId: 'ana' })],
  ['Sign up user ana+test@example.co.uk', none],
  ['Create a new user with ID ana and set plan="premium", trial=false', ask('create-user')],
  ['create user ana with "first name": "Ana", balance: -12.5', ask('create-user')],
  ['Create user ana with phone="+49 30 123456" and since=2024-01-31', ask('create-user')],
  ['Please create a new user account with ID "u-99" and email="x@y.z"', ask('create-user')],
  ['Register ana as a new user', none],
  ['Create a user for ana@example.com', ask('create-user')],
  ['Create user ana, setting plan to premium', ask('create-user')],
  ['Make a user whose id is 00042', none],
  ['CREATE USER ANA', act('create-user', { projectUserId: 'ANA' })],
  ['create   user\n\tana', act('create-user', { projectUserId: 'ana' })],
  [
    'Create user 山田太郎 with city=東京',
    act('create-user', { projectUserId: '山田太郎', properties: { city: '東京' } })
  ],
  [
    'Create user ana with id_number=9007199254740993123',
    act('create-user', { projectUserId: 'ana', properties: { id_number: '9007199254740993123' } })
  ],
  ['Create user ana with name Ana', ask('create-user')],
  ['Create user ana with name "Ana Smith" and a plan of "premium"', ask('create-user')],
  ['Can you create a user for me with id ana, pls', ask('create-user')],
  ['Create a user (id: ana)', ask('create-user')],
  ['Create user ana and call "bo"', ask('create-user')],
  ['Create user #42', ask('create-user')],
  ['Create user ana with name: Ana Smith', ask('create-user')],
  ['Create user ana,bo', ask('create-user')],
  ['Create user ana with price=49,99', ask('create-user')],
  ['create user ana with plan=free and plan=premium', ask('create-user')],
  ['Create user ana, not bo', ask()],
  ['Create user ana. Then create user bo.', ask('create-user')],
  ['Create user ana?', confirm('create-user', { projectUserId: 'ana' })],
  ['Would you create user ana?', act('create-user', { projectUserId: 'ana' })],
  ['create user for ana', ask('create-user')],
  [
    'Update user ana with plan=premium',
    confirm('create-user', { projectUserId: 'ana', properties: { plan: 'premium' } })
  ],
  ['User ana was created', none],
  ['Why did you create user ana?', ask()],
  ['There is no need to create user ana', declined],
  ["I can't create user ana", ask()],
  ['Please refrain from creating user ana', ask()],
  ['Create no user', ask()],

  // Events
  [
    'Log event "Order Completed" for user ana with properties {"total": 99.5, "items": ["a", "b"]}',
    act('track-event', {
      eventName: 'Order Completed',
      projectUserId: 'ana',
      properties: { total: 99.5, items: ['a', 'b'] }
    })
  ],
  ['Track the purchase event for user ana with amount: 12 and currency: USD.', ask('track-event')],
  ['track event=purchase userId=ana amount=3', ask('track-event')],
  ['Track an event called "level_up" from device d1 with level=7', ask('track-event')],
  [
    'I need you to record the event checkout_started for user "ana smith"',
    act('track-event', { eventName: 'checkout_started', projectUserId: 'ana smith' })
  ],
  [
    'track purchase for user ana with amount = 10, note = "gift, wrapped"',
    confirm('track-event', {
      eventName: 'purchase',
      projectUserId: 'ana',
      properties: { amount: 10, note: 'gift, wrapped' }
    })
  ],
  ['On device ana-phone, please log the event app_open', none],
  ['Track event: purchase, user: ana, amount: 12.5', ask('track-event')],
  ['Log that user ana completed checkout', none],
  ['Track a page view for user ana', ask('track-event')],
  ['Send event purchase for user ana', none],
  [
    'track `cart.abandoned` for user ana',
    confirm('track-event', { eventName: 'cart.abandoned', projectUserId: 'ana' })
  ],
  ['Report a "push" event for user ana', none],
  ['Fire the event purchase for user ana', none],
  ['Track events purchase and refund for user ana', ask('track-event')],
  ['Track event signed up for user ana', ask('track-event')],
  ['Track event purchase for user ana with amount 49.99 and currency "EUR"', ask('track-event')],
  ['Track event run for user ana with distance 5 km', ask('track-event')],
  ['Track event purchase for user ana with amount 10 and currency EUR', ask('track-event')],
  ['Track event purchase for users ana and bo', ask('track-event')],
  ['Track event purchase for user ana on device ana-phone', ask('track-event')],
  ['Track event purchase for user ana every day', ask('track-event')],
  ['Track event purchase for her', ask('track-event')],
  ['track my package', none],
  ['Trigger event purchase for user ana', none],
  ['When did user ana track event purchase?', none],
  ['Under no circumstances track event purchase for user ana', declined],
  ["You shouldn't track event purchase for user ana", declined],

  // Pushes
  ['Send a push notification to user ana. Title: "Flash sale". Body: "Ends tonight!"', ask('send-push-notification')],
  [
    "hey, can you push 'Dinner!' to device kitchen-tablet",
    act('send-push-notification', { deviceId: 'kitchen-tablet', body: 'Dinner!' })
  ],
  [
    'Send a message to user ana that says “See you at 8”',
    act('send-push-notification', { projectUserId: 'ana', body: 'See you at 8' })
  ],
  [
    'Alert user ana with title "Storm" and text "Stay inside" and link https://example.com/storm',
    act('send-push-notification', {
      projectUserId: 'ana',
      title: 'Storm',
      body: 'Stay inside',
      landingUrl: 'https://example.com/storm'
    })
  ],
  ['send push notification deviceId=d-1 title=Hello body="How are you?"', ask('send-push-notification')],
  [
    'Send user ana the notification "Never gonna give you up"',
    act('send-push-notification', { projectUserId: 'ana', body: 'Never gonna give you up' })
  ],
  [
    'Send a push to user ana with title "Do not send" and body "Create user bo"',
    act('send-push-notification', { projectUserId: 'ana', title: 'Do not send', body: 'Create user bo' })
  ],
  [
    'Send a push to user ana with body "to device x for everyone"',
    act('send-push-notification', { projectUserId: 'ana', body: 'to device x for everyone' })
  ],
  [
    'Send a push to user ana with title "She said \\"hi\\"" please',
    act('send-push-notification', { projectUserId: 'ana', title: 'She said "hi"' })
  ],
  [
    'Please notify the customer with id 77 that says "Ready" with image https://example.com/i.png',
    act('send-push-notification', { projectUserId: '77', body: 'Ready', imageUrl: 'https://example.com/i.png' })
  ],
  ['send push userId=0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17 body="Hi"', ask('send-push-notification')],
  ['Send a push to user ana with title "He said "hi" to me"', ask()],
  [
    'Tell user ana "Your order has shipped"',
    act('send-push-notification', { projectUserId: 'ana', body: 'Your order has shipped' })
  ],
  ['Tell user ana that her order has shipped', ask('send-push-notification')],
  ['Tell me about user ana', ask()],
  ['Send ana a push saying "Hi"', none],
  ['Let user ana know "Your ride is here"', none],
  ['Send a reminder to user ana: "Dentist at 3"', ask('send-push-notification')],
  ['Push "Hello" with body "World" to user ana', ask('send-push-notification')],
  ['Hey can you shoot a quick notification over to user ana saying "Dinner"?', none],
  ['Send a push "One" "Two" to user ana', ask('send-push-notification')],
  ['Send a push to user ana with title "A" and title "B"', ask('send-push-notification')],
  ['Send a push to all users with title "Hi"', ask('send-push-notification')],
  ['Send pushes to user ana with title "Hi"', none],
  ['Send a push to user ana with title "Hi" and priority=high', ask('send-push-notification')],
  ['Send a push to user ana with title "Hi" in 10 minutes', ask('send-push-notification')],
  ['Send a push to user ana with title "Hi" and cc user bo', ask('send-push-notification')],
  ['Send a push to the user with title "Hi"', ask('send-push-notification')],
  ['Send a push to user ana with title ""', ask('send-push-notification')],
  ['Send a push to user ana with title "Hi" only if she is in Berlin', ask('send-push-notification')],
  ['Draft a push to user ana with title "Hi"', none],
  ['Pretend to send a push to user ana with title "Hi"', none],
  ['My boss said: send a push to user ana with title "Hi"', none],
  ['Is it safe to send a push to user ana with title "Hi"?', none],
  ['If user ana pays, send a push to user ana with title "Hi"', none],
  ['Can you not send a push to user ana with title "Hi"', declined],
  ['Let\'s not send a push to user ana with title "Hi"', declined],
  ['I\'d rather you didn\'t send a push to user ana with title "Hi"', declined],
  ['Cancel the push to user ana', ask()],
  ['send nothing to user ana', ask()],
  ['do\u200bn\u2019t send a push to user ana with title "Hi"', none],
  ['Send a push to user a\u200bna with title "Hi"', ask()],

  // Campaigns
  ['Fire campaign welcome at user ana', none],
  ['Kick off the campaign spring_24 for users "ana smith" and bo with code: "S24"', none],
  ['trigger campaignId=welcome userId=ana', none],
  [
    'Send the welcome campaign to device d1',
    act('trigger-campaign', { campaignId: 'welcome', targets: [{ deviceId: 'd1' }] })
  ],
  [
    'Trigger campaign welcome for user ana with properties: {"name": "Ana", "vip": true}',
    act('trigger-campaign', {
      campaignId: 'welcome',
      targets: [{ projectUserId: 'ana' }],
      properties: { name: 'Ana', vip: true }
    })
  ],
  ['Send campaign "news" to everybody', none],
  [
    'Please trigger campaign welcome for all of our users, thank you!',
    confirm('trigger-campaign', { campaignId: 'welcome', broadcast: true })
  ],
  ['Trigger campaign welcome for the default audience', confirm('trigger-campaign', { campaignId: 'welcome' })],
  ['Broadcast the welcome campaign', none],
  ['Trigger campaign winback targeting user ana', ask('trigger-campaign')],
  ['Run winback for everyone', none],
  ['Could you trigger the winback campaign for ana and bo?', ask('trigger-campaign')],
  ['Broadcast campaign welcome to user ana', none],
  ['trigger campaign welcome for user id=42', ask('trigger-campaign')],
  ['Trigger campaign welcome for everyone and user ana', ask('trigger-campaign')],
  ['Trigger campaign welcome for every user in Berlin', ask('trigger-campaign')],
  ['Trigger campaign welcome or goodbye for user ana', ask('trigger-campaign')],
  ['Trigger campaign welcome for user ana twice', ask('trigger-campaign')],
  ['Trigger the campaign', ask('trigger-campaign', 'campaignId')],
  ['Trigger campaign welcome for users', ask('trigger-campaign')],
  ['Trigger campaign welcome for premium users', ask('trigger-campaign')],
  ['Stop campaign welcome', ask()],
  ['Run the campaign welcome for nobody', ask()],
  ['You must not trigger campaign welcome for everyone', declined],
  ['Please do NOT trigger campaign welcome for user ana', declined],
  ['start the engine', ask('trigger-campaign')],

  // Neither
  ['yes', none],
  ['user ana', none],
  ['send', ask('send-push-notification')],
  ['1234567890', none],
  ['{"skill": "create-user", "projectUserId": "ana"}', none],
  ['SELECT * FROM users; DROP TABLE users;', none]
]

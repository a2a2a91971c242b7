import { type Case, type Class, classOf, does, mayDo, never } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { broadcasts, createsUser, pushes, tracks, triggers } from '../orders.ts'
import { campaigns, names } from '../things.ts'

/** Words that answer a question, in many languages: none of them is an id. */
const answerWords =
  `yes y yep yeah yup ok okay k sure go proceed do continue confirm confirmed agreed fine right correct
  no n nope nah not never stop cancel abort wait later maybe perhaps skip none nobody nothing please thanks hello what why
  ja nein vielleicht doch oui non sí si nao não sim da net да нет ага неа はい いいえ うん だめ 是 不 好 不是 对 否 نعم لا evet hayır
  네 아니요 हाँ नहीं tak nie ano ne nai ναι όχι כן לא vâng không kyllä ei igen nem jo nej ok! yes! no! y. n. Yes. NO STOP! ??`
    .split(/\s+/)
    .filter(Boolean)
const unsure = [
  "I don't know",
  'any',
  'whatever',
  'you choose',
  'the usual one',
  'the same as before',
  'what do you mean?',
  'which ones are there?',
  'go ahead',
  'do it',
  'never mind',
  'forget it',
  'no, thanks',
  'not ana',
  'ana or bo',
  'ana, no wait, bo',
  'hold on',
  'ask bo',
  'tomorrow',
  'if you can'
]
const notYes = `no|No.|NO!|nope|n|nah|never|stop|cancel|abort|wait|hold on|later|not yet|not now|maybe|perhaps|I guess
  |hmm|what?|how many?|why?|yes?|yes but not to bo|yes, but tomorrow|yes if it is free|yes, except bo|yes to ana only
  |yes no|no yes|yesterday|yes and no|not yes|don't|do not|I said no|nein|non|нет|いいえ|不|لا|hayır|nie|ne|não|2|?|…|👎|ana|welcome
  |only for ana|yes for user ana|no, for user ana|yes, with another campaign|say yes|would you say yes?|he said yes|is that a yes?
  |yes when it is 5 pm|unless bo objects|yes after bo confirms|I do not say yes|anything but yes|yes, dry run|who gets it?|true or false?
  |yeah right|ok thanks|fine, thanks|fine|right|go|thanks`
  .split('|')
  .map((word) => word.trim())
const likeYes =
  `yes please|yes, do it|Yes, go ahead.|go ahead|do it|ok|okay|sure|y|yep|yeah|confirm|confirmed|I confirm|proceed|oui|ja|sí|да
  |はい|是|نعم|evet|👍|✅|yes yes|YES PLEASE|yes, trigger it|yes thanks|please do|of course|absolutely|correct|approved|true`
    .split('|')
    .map((word) => word.trim())
const ids = [
  'ana@example.com',
  'usr_7f3a',
  'auth0|5f7c8e',
  '"ana maria"',
  '8d3f0a1c-7b52-4d40-9a1f-6e2c8b17aa01',
  'crm:4711'
]

const askForUser = ['Create a user', 'Create user', 'create a user', 'Please create a user']
const openQuestions = [
  ...askForUser,
  'Track event purchase',
  'Track an event for user ana',
  'Trigger campaign gift',
  'Trigger a campaign for user ana',
  'Send a push saying "hi"',
  'Send a push to user ana'
]
const unquoted = (written: string) => written.replaceAll('"', '')

function given(draw: Draw): Case {
  const written = draw.pick(ids)
  const who = { projectUserId: unquoted(written) }
  const [campaign, name] = [draw.pick(campaigns), draw.pick(names)]
  return draw.pick([
    () => does([draw.pick(askForUser), written], createsUser(who.projectUserId)),
    () => does([draw.pick(askForUser), `user ${written}`], createsUser(who.projectUserId)),
    () => does(['Create a user with plan=gold', written], createsUser(who.projectUserId, { plan: 'gold' })),
    () => does(['Track event purchase', `user ${written}`], tracks('purchase', who)),
    () => does(['Track event purchase', `for user ${written}`], tracks('purchase', who)),
    () => does([`Track an event for user ${name}`, 'level_up'], tracks('level_up', { projectUserId: name })),
    () => does([`Trigger campaign ${campaign}`, `for user ${written}`], triggers(campaign, [who])),
    () => does([`Trigger a campaign for user ${name}`, campaign], triggers(campaign, [{ projectUserId: name }])),
    () => does(['Send a push saying "hi"', `user ${written}`], pushes(who, { body: 'hi' })),
    () => does([`Send a push to user ${name}`, 'saying "hi"'], pushes({ projectUserId: name }, { body: 'hi' })),
    () => does([`Trigger campaign ${campaign}`, 'everyone', 'yes'], broadcasts(campaign)),
    () => does([`Trigger campaign ${campaign} for everyone`, 'hm', 'yes'], broadcasts(campaign)),
    () => mayDo([draw.pick(askForUser), `The id is ${written}`], createsUser(who.projectUserId)),
    () => mayDo([draw.pick(askForUser), `${name}, please`], createsUser(name)),
    () => mayDo([draw.pick(askForUser), name], createsUser(name)),
    () => mayDo([draw.pick(openQuestions), `Create user ${written}`], createsUser(who.projectUserId))
  ])()
}

/** The first word is not an id, unless the second agrees to a question that shows it as one. */
function twice(draw: Draw): Case {
  const [first, second] = [draw.pick(answerWords), draw.pick(answerWords)]
  return mayDo([draw.pick(askForUser), first, second], createsUser(first))
}

/** Conversations: a word that does not answer the open question does nothing. */
export const answers: Class = classOf('answers', 520, (draw, index): Case => {
  const everyone = `Trigger campaign ${draw.pick(campaigns)} for ${draw.pick(['everyone', 'all users'])}`
  const campaign = everyone.split(' ')[2]!
  if (index < answerWords.length) return never(draw.pick(askForUser), answerWords[index]!)
  switch (index % 6) {
    case 0:
      return given(draw)
    case 1:
      return never(everyone, draw.pick(notYes))
    case 2:
      return mayDo([everyone, draw.pick(likeYes)], broadcasts(campaign))
    case 3:
      return never(draw.pick(openQuestions.filter((text) => !text.includes('push'))), draw.pick(answerWords))
    case 4:
      return never(draw.pick(openQuestions), draw.pick(unsure))
    default:
      return draw.chance(50) ? given(draw) : twice(draw)
  }
})

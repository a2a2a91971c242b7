import type { Skill } from './reading.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean))
const phrases = (text: string): readonly (readonly string[])[] =>
  text
    .split('|')
    .map((phrase) => phrase.trim().split(/\s+/))
    // The longest that fits is the one that is meant.
    .sort((one, other) => other.length - one.length)

/** What may stand before the verb without changing what is asked for. */
export const openings =
  phrases(`hi | hello | hey | hey there | hi there | hello there | ok | okay | so | well | now | then | please | kindly
  | could you | can you | would you | will you | could you maybe | can you just | i want you to | i want to
  | i'd like you to | i'd like to | i would like you to | i would like to | i need you to | i need to | we want you to
  | we want to | we need you to | we need to | we'd like to | we would like to | let's | let us | go ahead and | just
  | also | agent | assistant | tidings | do me a favor and | do me a favour and | be so kind and | be so kind as to
  | it would be great if you could | it would be nice if you could | you should | your task is to | your job is to
  | i'd appreciate it if you could | would you be so kind as to | pls | plz | dear agent | dear assistant | need to | need you to
  | immediately | quickly | good morning | good evening | good afternoon`)

/** An order with a no in it that forbids nothing. */
export const reminders = phrases(`don't forget to | dont forget to | do not forget to | never forget to | remember to
  | don't hesitate to | do not hesitate to`)

/** Those of them that make a question of what is an order. */
export const modals = words('could can would will')

/** What may stand anywhere after the object without changing what is asked for. */
export const fillers =
  phrases(`and | with | the | a | an | also | as well | plus | please | pls | plz | thanks | thank you | many thanks
  | thanks a lot | thank you very much | now | right now | right away | immediately | at once | asap | for me | following | these
  | & | using | having | including | set | where | whose | that has | which has | who has | has | kindly | too | cheers`)

/** Those after which something must come. A text that ends with one was cut off. */
export const unfinished = words(
  'and with the a an plus & its using having including set where whose following has that which who also'
)
/** Those that may follow a name without quotes. After others it may as well be the name that goes on, as in "buy now". */
export const afterName = words('and with plus & please thanks thank using including having')

/** A no, in all its forms. Before the verb it forbids; after it, it makes the text unclear. */
export const negations =
  words(`no not never don't dont do-not doesn't didn't won't wouldn't shouldn't mustn't can't cannot cant couldn't
  isn't aren't wasn't neither nor none nothing nobody without stop stopping cancel abort avoid refrain quit cease halt skip undo prevent forbid forbidden refuse unless except instead hold wait refrain rather ain't nope nah`)

/** With a no in it, before an order that it does not forbid. */
export const harmless =
  phrases(`no problem | no worries | no rush | no hurry | no doubt | no pressure | no stress | not bad | why not
  | why don't you | why dont you | why do you not | why won't you | why don't we | why dont we`)
/** What may hold a no that is not about the order. None is waited for. */
export const conditions =
  phrases(`if | when | whenever | unless | once | while | until | because | since | although | though | in case
  | provided | should | as long as | instead of | rather than | without`)

/** Everything by which a verb can be recognised, ours and the commonest of others, to tell where it stands. */
export const verbForms = words(`create creating add adding register registering make making insert inserting upsert save
  track tracking record recording log logging capture capturing report reporting send sending push pushing notify notifying
  deliver delivering message messaging alert alerting trigger triggering start starting launch launching run running fire
  firing execute executing activate activating begin kick set sign tell telling inform informing ping pinging broadcast
  broadcasting emit emitting raise raising update updating change changing modify modifying edit editing delete deleting remove
  removing create-user track-event send-push-notification trigger-campaign`)

/** What puts an order off. None can be: whatever is asked for is done at once. */
export const waiting =
  words(`tomorrow today tonight later soon noon midnight monday tuesday wednesday thursday friday saturday
  sunday daily weekly hourly if when whenever until till while after before minute minutes hour hours day days
  week weeks month months`)

export const determiners = words('a an the one new another this that my our some single following')
/** Before somebody who exists. "Another user" is a new thought. */
export const targetDeterminers = words('a an the my our')
export const userNouns = words('user customer member subscriber users customers members subscribers')
export const deviceNouns = words('device phone devices phones')
export const eventNouns = words('event events')
export const campaignNouns = words('campaign campaigns')
export const plurals = words(
  'users customers members subscribers devices phones events campaigns pushes notifications messages'
)
export const pushNouns =
  phrases(`push notification | push message | push | notification | message | alert | push-notification
  | pushes | notifications | messages | mobile push | mobile notification | reminder
  | test push | test notification | test push notification | test message`)
export const prepositions = words('to for on of by from at targeting')
export const everyone =
  phrases(`everyone | everybody | all | all users | all devices | all customers | every user | every customer
  | every device | all of our users | all our users | all the users | all my users | all of my users | all of the users
  | all subscribers | all members | the whole audience | the entire audience | each user | all people | every single user`)
export const defaultAudience = phrases(
  `default audience | its default audience | the default audience | the usual audience`
)
/** Words by which an id is introduced. */
export const idIntros =
  phrases(`with id | with the id | with an id of | with id of | id | whose id is | with project user id
  | with the project user id | project user id | with user id | with device id | with campaign id | with event name | called
  | identified by | that is called | which is called | having id | having the id
  | with the identifier | with identifier | identifier`)
/** A user's name is a property and no id. */
export const named = phrases('named | by the name of | by the name')
/** Of an event or a campaign. */
export const nameIntros = [...phrases('with name | with the name'), ...named]
export const propertyIntros = words(
  'properties property props attributes attribute parameters parameter params param data fields field values variables details metadata'
)
/** What may stand between the name of a field and its value. */
export const linkWords = words('is of are as be being reads to = equals')

/** After these, or between properties, a name may stand beside its value without a sign: `with currency "EUR"`. */
export const beforeProperty = words('with having has including where whose using')
/** Never the name of a property without a sign. */
export const notAKey =
  words(`a an the and or to for on of by from at in as is are be if when but that this which who whose where it its
  user users customer customers member members device devices phone phones event events campaign campaigns push notification message
  id ids identifier named called saying everyone everybody all his her hers him he she they them their we us you i me my our your then also please thanks thank now has having using including set plus
  following`)

/** Words of the sentence: before a colon or an equals sign they name no property. */
export const notAName =
  words(`a an the and or with to for on of by from at in as is are be if when but that this which who whose where
  it its my our your his her hers him he she they them their we us you i me then also please now not no everyone everybody all named called has having using including set plus
  following`)

/** Fields of a push by the words people use for them. */
export const contentFields: readonly (readonly [words: readonly string[], field: string])[] = [
  ...phrases('title | titled | headline | heading | entitled | with title | with the title').map(
    (one) => [one, 'title'] as const
  ),
  ...phrases(`body | text | message | content | saying | that says | which says | says | stating | that reads | reading | telling them
    | message body | body text | message text`).map((one) => [one, 'body'] as const),
  ...phrases('image url | image | picture | image link | image_url | imageurl | picture url').map(
    (one) => [one, 'imageUrl'] as const
  ),
  ...phrases(`landing url | landing page | link | url | linking to | leading to | that opens | which opens | opening | landing_url
    | landingurl | deep link | landing link | that links to | which links to`).map(
    (one) => [one, 'landingUrl'] as const
  )
]

/** Never an id unless quoted: whoever writes "create user with" has forgotten something. */
export const notAnId =
  words(`a an the and or with to for on of by from at in into as is are be was were has have had if when while until
  after before because since but that this these those which who whom whose what where why how please thanks thank now then
  tomorrow today tonight yesterday later soon again also too only just every each all any some everyone everybody anyone anybody
  someone somebody me my mine you your yours him his her hers she he it its they them their theirs us our ours we i myself
  yourself user users device devices event events campaign campaigns push notification message id ids name named called title body
  titled saying properties property right here there first last next previous same other another new it's twice once
  out off up down back away over onto than others rest more etc owner owners friends
  account accounts profile profiles entry entries group groups list lists segment segments audience table database model schema type
  types role roles permission permissions management settings preferences interface interfaces guide manual story stories flow
  documentation docs session sessions info information agent input feedback data base token tokens happy
  using having including following plus set kindly cheers asap immediately pls plz default
  report reports result results stats statistics summary status overview`)

/** What stands in a data part may also begin a text. */
export const skillIds = new Map<string, Skill>(
  (['create-user', 'track-event', 'send-push-notification', 'trigger-campaign'] as const).map((id) => [id, id])
)
/** Verbs for somebody who is there. */
export const changes = words('update change modify edit')

const verbs: readonly (readonly [phrase: string, skills: readonly Skill[], bare: readonly Skill[]])[] = [
  ['create|add|register|make|insert|upsert|set up|sign up', ['create-user', 'track-event'], []],
  ['update|change|modify|edit', ['create-user'], []],
  ['track', ['track-event'], ['track-event']],
  // Without the word event these mean other things as often: log out, report spam, capture payment.
  ['record|log|capture|report', ['track-event'], []],
  ['send|deliver', ['send-push-notification', 'trigger-campaign', 'track-event'], ['send-push-notification']],
  ['push|notify|message|alert|tell|inform|ping', ['send-push-notification'], ['send-push-notification']],
  ['trigger', ['trigger-campaign'], ['trigger-campaign']],
  ['broadcast', ['trigger-campaign'], []],
  ['fire', ['trigger-campaign', 'track-event'], []],
  ['emit|raise', ['track-event'], []],
  ['start|launch|run|execute|activate|begin|kick off|fire off|start off|set off', ['trigger-campaign'], []]
]

export interface Verb {
  words: readonly string[]
  /** What it can mean, by the noun that follows. */
  skills: readonly Skill[]
  /** What it means where no noun says more. */
  bare: readonly Skill[]
}

export const allVerbs: readonly Verb[] = verbs
  .flatMap(([text, skills, bare]) => phrases(text).map((one) => ({ words: one, skills, bare })))
  .sort((one, other) => other.words.length - one.words.length)

export const yes =
  phrases(`yes | y | yep | yeah | yup | sure | ok | okay | go | go ahead | do it | do so | confirm | confirmed | i confirm
  | please do | yes please | yes do it | yes go ahead | certainly | of course | affirmative | correct | right | that's right | yes i do
  | send it | trigger it | absolutely | fine | agreed | proceed | please proceed | yes confirmed | yes confirm | yes proceed | yes send it
  | sure go ahead | ok do it | ok go ahead`)
/** What was called off; who says so, and of what, is no id: "user cancelled". */
const calledOff = 'cancelled canceled aborted declined rejected'
  .split(' ')
  .flatMap((word) => [
    word,
    ...['user', 'the user', 'it is', "it's", 'request', 'task', 'operation'].map((before) => `${before} ${word}`),
    ...['by user', 'by the user'].map((after) => `${word} ${after}`)
  ])
  .join(' | ')
export const refusals =
  phrases(`no | n | nope | nah | cancel | stop | abort | never mind | nevermind | forget it | don't | do not | no thanks
  | no thank you | cancel it | cancel that | stop it | leave it | skip it | don't do it | do not do it | not now | rather not | better not
  | please don't | please do not | no don't | no do not | no cancel | no stop | forget about it | forget that | not anymore | drop it | wait
  | cancle | cancel this | nvm | decline | i decline | reject | disregard | disregard it | disregard that | exit | quit | abort it
  | discard | discard it | terminate | terminate it | ignore | ignore it | ignore that | negative | stop that | forget this
  | scratch that | do nothing | don't bother | no way | ${calledOff}`)

import { phrases, words } from './phrases.ts'

// The words that all texts share, whatever they ask for. Those of a skill stand in its folder.

/** Phrases before the verb that do not change the order. */
export const openings =
  phrases(`hi | hello | hey | hey there | hi there | hello there | ok | okay | so | well | now | then | please | kindly
  | could you | can you | would you | will you | could you maybe | can you just | i want you to | i want to
  | i'd like you to | i'd like to | i would like you to | i would like to | i need you to | i need to | we want you to
  | we want to | we need you to | we need to | we'd like to | we would like to | let's | let us | go ahead and | just
  | also | agent | assistant | tidings | do me a favor and | do me a favour and | be so kind and | be so kind as to
  | it would be great if you could | it would be nice if you could | you should | your task is to | your job is to
  | i'd appreciate it if you could | would you be so kind as to | pls | plz | dear agent | dear assistant | need to | need you to
  | immediately | quickly | good morning | good evening | good afternoon`)

/** Openings that hold a negation and forbid nothing. */
export const reminders = phrases(`don't forget to | dont forget to | do not forget to | never forget to | remember to
  | don't hesitate to | do not hesitate to`)

/** Openings with which an order takes the form of a question. */
export const modals = words('could can would will')

/** Phrases anywhere after the object that do not change the order. */
export const fillers =
  phrases(`and | with | the | a | an | also | as well | plus | please | pls | plz | thanks | thank you | many thanks
  | thanks a lot | thank you very much | now | right now | right away | immediately | at once | asap | for me | following | these
  | & | using | having | including | set | where | whose | that has | which has | who has | has | kindly | too | cheers`)

/** Fillers that need a continuation. A text that ends with one was cut off. */
export const unfinished = words(
  'and with the a an plus & its using having including set where whose following has that which who also'
)
/** Fillers that may follow a name without quotes. Any other may be part of the name, as in "buy now". */
export const afterName = words('and with plus & please thanks thank using including having')

/** Negations. Before the verb they forbid; after it, they make the text unclear. */
export const negations =
  words(`no not never don't dont do-not doesn't didn't won't wouldn't shouldn't mustn't can't cannot cant couldn't
  isn't aren't wasn't neither nor none nothing nobody without stop stopping cancel abort avoid refrain quit cease halt skip undo prevent forbid forbidden refuse unless except instead hold wait refrain rather ain't nope nah`)

/** Phrases with a negation that do not forbid the order after them. */
export const harmless =
  phrases(`no problem | no worries | no rush | no hurry | no doubt | no pressure | no stress | not bad | why not
  | why don't you | why dont you | why do you not | why won't you | why don't we | why dont we`)
/** Words that begin a condition. A negation in it is not about the order. Orders never wait for a condition. */
export const conditions =
  phrases(`if | when | whenever | unless | once | while | until | because | since | although | though | in case
  | provided | should | as long as | instead of | rather than | without`)

/** Verbs of no skill that mark a second order all the same. */
export const otherVerbs = words('save delete deleting remove removing')

/** Words that defer an order. No order can be deferred: the agent acts at once. */
export const waiting =
  words(`tomorrow today tonight later soon noon midnight monday tuesday wednesday thursday friday saturday
  sunday daily weekly hourly if when whenever until till while after before minute minutes hour hours day days
  week weeks month months`)

export const determiners = words('a an the one new another this that my our some single following')
/** Determiners of a recipient. "Another user" begins a new thought. */
export const targetDeterminers = words('a an the my our')
export const userNouns = words('user customer member subscriber users customers members subscribers')
export const deviceNouns = words('device phone devices phones')
export const targetPlurals = words('users customers members subscribers devices phones')
export const prepositions = words('to for on of by from at targeting')
export const everyone =
  phrases(`everyone | everybody | all | all users | all devices | all customers | every user | every customer
  | every device | all of our users | all our users | all the users | all my users | all of my users | all of the users
  | all subscribers | all members | the whole audience | the entire audience | each user | all people | every single user`)
export const defaultAudience = phrases(
  `default audience | its default audience | the default audience | the usual audience`
)
/** Phrases that introduce an id. */
export const idIntros =
  phrases(`with id | with the id | with an id of | with id of | id | whose id is | with project user id
  | with the project user id | project user id | with user id | with device id | with campaign id | with event name | called
  | identified by | that is called | which is called | having id | having the id
  | with the identifier | with identifier | identifier`)
/** Phrases that introduce a name. A user's name is a property, not an id. */
export const named = phrases('named | by the name of | by the name')
/** Phrases that introduce the name of an event or a campaign. */
export const nameIntros = [...phrases('with name | with the name'), ...named]
export const propertyIntros = words(
  'properties property props attributes attribute parameters parameter params param data fields field values variables details metadata'
)
/** Words between the name of a field and its value. */
export const linkWords = words('is of are as be being reads to = equals')

/** After these words, and between properties, a name may stand beside its value without a sign: `with currency "EUR"`. */
export const beforeProperty = words('with having has including where whose using')
/** Words that name a property only with a sign. */
export const notAKey =
  words(`a an the and or to for on of by from at in as is are be if when but that this which who whose where it its
  user users customer customers member members device devices phone phones id ids identifier named called saying everyone everybody all his her hers him he she they them their we us you i me my our your then also please thanks thank now has having using including set plus
  following`)

/** Words of a sentence. They name no property, not even before a colon or an equals sign. */
export const notAName =
  words(`a an the and or with to for on of by from at in as is are be if when but that this which who whose where
  it its my our your his her hers him he she they them their we us you i me then also please now not no everyone everybody all named called has having using including set plus
  following`)

/** Words that are an id only in quotes: in "create user with" the id was forgotten. */
export const notAnId =
  words(`a an the and or with to for on of by from at in into as is are be was were has have had if when while until
  after before because since but that this these those which who whom whose what where why how please thanks thank now then
  tomorrow today tonight yesterday later soon again also too only just every each all any some everyone everybody anyone anybody
  someone somebody me my mine you your yours him his her hers she he it its they them their theirs us our ours we i myself
  yourself user users device devices id ids name named called title body
  titled saying properties property right here there first last next previous same other another new it's twice once
  out off up down back away over onto than others rest more etc owner owners friends
  account accounts profile profiles entry entries group groups list lists segment segments audience table database model schema type
  types role roles permission permissions management settings preferences interface interfaces guide manual story stories flow
  documentation docs session sessions info information agent input feedback data base token tokens happy
  using having including following plus set kindly cheers asap immediately pls plz default
  report reports result results stats statistics summary status overview`)

export const yes =
  phrases(`yes | y | yep | yeah | yup | sure | ok | okay | go | go ahead | do it | do so | confirm | confirmed | i confirm
  | please do | yes please | yes do it | yes go ahead | certainly | of course | affirmative | correct | right | that's right | yes i do
  | send it | trigger it | absolutely | fine | agreed | proceed | please proceed | yes confirmed | yes confirm | yes proceed | yes send it
  | sure go ahead | ok do it | ok go ahead`)
/** Forms of a refusal whose nouns are not ids: "user cancelled". */
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

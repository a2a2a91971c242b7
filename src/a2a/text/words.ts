import type { Token } from './tokens.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean))

/** Words that connect others. They are no name and no value without quotes. */
export const connecting =
  words(`a an the and or with to for on of by from at in into as is are be was were has have had but that this these those
  which who whom whose what where why how than then so also too only just again please
  having including excluding using`)

const negations =
  words(`no not never don't dont doesn't didn't won't wouldn't shouldn't mustn't can't cannot cant couldn't isn't aren't
  wasn't ain't neither nor none nothing nobody without stop cancel abort avoid refrain quit cease halt skip undo prevent forbid
  refuse unless except instead hold wait rather nope nah`)

export const negates = (tokens: readonly Token[]): boolean =>
  tokens.some((token) => token.kind === 'word' && negations.has(token.lower))

/** Words that stand for another person or thing, and nouns with which `user` makes a compound. */
const standing =
  words(`i me my mine myself you your yours yourself he him his she her hers it its they them their theirs we us our ours it's every each
  all any some anyone anybody someone somebody other others another rest more etc same new first last next previous owner here there
  account accounts profile profiles interface group groups list lists segment segments table role roles settings happy
  report reports status active inactive`)

/** Words that say when, and times of the day. */
const times =
  words(`if when whenever while until till after before because since once twice later soon today tonight tomorrow yesterday now noon midnight
  monday tuesday wednesday thursday friday saturday sunday daily weekly monthly hourly asap immediately`)

/** Words that answer a question in one of the languages we know. As an id such a word needs quotes. */
export const answering =
  words(`yes y yep yeah yup sure ok okay k kk go proceed confirm confirmed agreed fine right correct done good great continue
  affirmative absolutely certainly n nope cancelled canceled cancle aborted decline declined reject rejected disregard exit discard
  terminate ignore negative nvm nevermind maybe perhaps possibly help hello hi hey hm hmm huh idk dunno unknown unsure uncertain
  unclear undecided unspecified whatever undefined null nil nan sorry pardon wrong incorrect n/a na tbd tba tbc todo anything something
  sí si da net jo claro vale adelante oui non d'accord ja nein doch klar sim não nao certo sì va tak nie ano ne да нет ага неа ладно так ні
  hai はい いいえ うん だめ 是 是的 好 好的 不 不要 不是 对 否 예 네 아니요 evet hayır hayir tamam nej nei kyllä kylla ei nu igen nem nai ναι όχι
  כן לא نعم لا हाँ हां नहीं ไม่ ใช่ vâng không ya tidak`)

/** Words that may stand in the place of a name and are none without quotes. The words of the forms join them. */
export const notNames: ReadonlySet<string> = new Set([...connecting, ...negations, ...standing, ...times, ...answering])

/** Words that tell the agent how to act, and beginnings of such words. */
const instructions =
  words(`user users device devices where at on from to for by date time start end then else next also and or do as per
  each all none mode stage max min cap batch queue verify check copy forward ask cc bcc opt`)
const beginnings =
  `exclu except without omit skip ignor suppress block mute remov delet drop minus dry simulat pretend preview test
  mock fake draft sandbox noop nosend debug silent validat schedul delay defer postpone cron repeat recur retry expir until unless
  deadline embargo window cancel abort stop halt hold pause wait undo revert confirm approv review force target recipient audience
  segment filter limit throttl send deliver trigger broadcast notif dispatch launch publish condition require timestamp begin
  only every nobody unsub`.split(/\s+/)

/** The words of a name: `sendAt`, `send_at` and `send-at` have two. */
const partsOf = (name: string): string[] =>
  name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1-$2')
    .toLowerCase()
    .split(/[-_.]+/)

/** Fields of a request, however they are spelt. */
const field = /^(?:id|(?:project)?userid|deviceid|campaignid|triggerid|eventname|skill|properties)$/

/** Whether a property of this name could be meant as an instruction. */
export function instructs(name: string): boolean {
  const parts = partsOf(name)
  return field.test(parts.join('')) || parts.some(isInstruction)
}

const isInstruction = (part: string): boolean =>
  instructions.has(part) || negations.has(part) || times.has(part) || beginnings.some((word) => part.startsWith(word))

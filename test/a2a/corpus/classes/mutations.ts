import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import type { Draw } from '../draw.ts'
import { clearOrder, type Order, simpleOrder } from '../orders.ts'

/** Words that change what an order means, wherever they stand in it. */
const turning =
  `not never no none neither nor nobody without except excluding but unless if when whenever while once until till before
  after because although whether perhaps maybe possibly almost hardly barely rarely later tomorrow tonight yesterday soon sometimes
  daily weekly twice again instead otherwise hypothetically allegedly supposedly pretend simulate cancel stop abort undo forget
  ignore wait hold skip or versus than like via nicht kein niemals morgen falls wenn außer pas jamais demain sauf sinon nunca jamás
  mañana salvo não nunca amanhã exceto non mai domani niet nooit morgen не никогда завтра кроме если 不 别 如果 明天 除了 ない もし 明日
  لا غدا değil yarın अगर नहीं dont won't can't isn't n't NOT! ¬ != <> ~ ≠ ✗ ❌ 🚫 ⛔ TBD WIP n/a null wrong oops hmm`
    .split(/\s+/)
    .filter(Boolean)

/** The words of a text; a quoted text counts as one word. */
const wordsOf = (text: string) => text.match(/(?:[^\s"]|"[^"]*")+/g)!
/** Without these words a text has another meaning. */
const isFixed = (word: string) => /["=]|^(?:title|body)$/.test(word)

function inserted(draw: Draw): Case {
  const words = wordsOf(simpleOrder(draw).text)
  const place = draw.below(words.length + 1)
  return never([...words.slice(0, place), draw.pick(turning), ...words.slice(place)].join(' '))
}

/** A word is lost, moved, doubled or misspelt: the original order or a question is right, and never another order. */
function damaged(draw: Draw, { text, action }: Order): Case {
  const words = wordsOf(text)
  const place = draw.below(words.length)
  const word = words[place]!
  const next = words[place + 1]
  const put = (...instead: string[]) =>
    mayDo([...words.slice(0, place), ...instead, ...words.slice(place + Math.max(1, instead.length))].join(' '), action)
  switch (draw.below(6)) {
    case 0:
      return isFixed(word) ? put(word) : mayDo([...words.slice(0, place), ...words.slice(place + 1)].join(' '), action)
    case 1:
      return next !== undefined && !isFixed(word) && !isFixed(next) ? put(next, word) : put(word)
    case 2:
      return mayDo([...words.slice(0, place), word, word, ...words.slice(place + 1)].join(' '), action)
    case 3:
      return mayDo(misspelt(draw, text), action)
    case 4:
      return mayDo(words.join(draw.pick(['\n', '\t', '  ', ' \n ', '\u00a0', ', ', ' - ', '. ', '_', '/'])), action)
    default:
      return mayDo(
        `${words.slice(0, place).join(' ')}${draw.pick([', ', '. ', ': ', '; ', ' - ', '... ', ' (', '" '])}${words.slice(place).join(' ')}`,
        action
      )
  }
}

/** Replaces one letter in the words before the first id. */
function misspelt(draw: Draw, text: string): string {
  const fixed = /^(?:Create user|Track event|Trigger campaign|Send a push(?: notification)? to (?:user|device))/.exec(
    text
  )![0]
  const place = draw.below(fixed.length)
  const letter = draw.pick([...'abcdefghijklmnopqrstuvwxyz'])
  const kept = draw.pick([place, place + 1])
  return text.slice(0, kept) + letter + text.slice(place + 1)
}

/** Clear orders with one change at a random place. */
export const mutations: Class = classOf('orders with one change', 1_200, (draw, index) =>
  index % 2 === 0 ? inserted(draw) : damaged(draw, draw.chance(50) ? simpleOrder(draw) : clearOrder(draw))
)

import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import { createsUser, pushes, tracks, triggers } from '../orders.ts'
import { names } from '../things.ts'

/**
 * Characters of other scripts directly after an id. The id without them or a question is right, and never a user of
 * that name.
 */
const around = [
  '「$」',
  '『$』',
  '【$】',
  '〈$〉',
  '《$》',
  '（$）',
  '“$”',
  '‘$’',
  '„$“',
  '«$»',
  '‹$›',
  '»$«',
  '”$”',
  '＂$＂',
  '＇$＇',
  '`$`',
  '*$*',
  '**$**',
  '_*$*_',
  '($)',
  '[$]',
  '$؟',
  '$،',
  '$؛',
  '$。',
  '$．',
  '$、',
  '$，',
  '$！',
  '$？',
  '$；',
  '$：',
  '$…',
  '$।',
  '$¿',
  '¿$?',
  '¡$!',
  '$‽',
  '$·',
  '$\u200b',
  '\u200b$',
  '$\u200d',
  '$\u200e',
  '$\u200f',
  '\u200f$',
  '\u202e$',
  '\u202b$\u202c',
  '\u2066$\u2069',
  '$\u2060',
  '\ufeff$',
  '$\u00a0',
  '\u3000$',
  '$\u00ad',
  '—$',
  '$—',
  '–$–',
  '$™',
  '#$',
  '$*',
  '•$',
  '→$',
  '✅$',
  '$👍',
  '$ 🎉',
  '$ ✅'
]
/** Words or second names stick to the id, or the id is not an id: only a question is right. */
const stuck = [
  '$，不要',
  '$、$2',
  '$，$2',
  '$；$2',
  '$。不要',
  '$、それとも$2',
  '$（テスト）',
  '$！不要创建',
  '$؟لا',
  '$،$2',
  '$؛$2',
  '$・$2',
  '$＋$2',
  '$＆$2',
  '$&$2',
  '$,$2',
  '$;$2',
  '$(not)',
  '$(test)',
  '$?no',
  '$!not',
  '$—not',
  '$…no',
  "$'s",
  '$’s',
  '$=1',
  '<id>',
  '{id}',
  '{{id}}',
  '[name]',
  '$USER',
  '%s',
  '<user id here>',
  '???',
  '…',
  '*',
  '%',
  '🙂',
  '$🎉$2',
  '$\u0000x',
  '$€5',
  '$§1',
  '$~',
  '~$',
  '!$',
  '^$',
  '$\\n$2',
  '$→$2',
  '$⇒$2',
  '$×3',
  '$♥$2'
]
/** One word of another script, or of letters that look alike: the service uses it unchanged or asks about it. */
const words = [
  'ａｎａ',
  'аnа',
  'नेहा',
  'می\u200cنا',
  'ане\u0301та',
  'jose\u0301',
  'ｱﾅ',
  'ﬁona',
  'ⅷ',
  'ᏣᎳᎩ',
  'நிலா',
  'สมชาย',
  'Ⓐna'
]

const spaces = ['\u00a0', '\u3000', '\t', '\n', '  ', '\u2003']

/** Ids with characters of other scripts and of typography. */
export const scripts: Class = classOf('signs stuck to ids', 320, (draw, index): Case => {
  const [name, other] = draw.some(names, 2) as [string, string]
  const forms = (id: string, written: string) => {
    const who = { projectUserId: id }
    return [
      [`Create user ${written}`, createsUser(id)],
      [`Create user ${written}`, createsUser(id)],
      [`Create user ${written} with plan=gold`, createsUser(id, { plan: 'gold' })],
      [`Track event signup for user ${written}`, tracks('signup', who)],
      [`Trigger campaign gift for user ${written}`, triggers('gift', [who])],
      [`Send a push to user ${written} saying "hi"`, pushes(who, { body: 'hi' })]
    ] as const
  }
  const kind = index % 10
  if (kind === 0) {
    const word = draw.pick(words)
    const [text, action] = draw.pick(forms(word, word))
    return mayDo(text, action)
  }
  if (kind === 1) {
    const [text, action] = draw.pick(forms(name, name))
    return mayDo(text.replace(' ', draw.pick(spaces)), action)
  }
  if (kind < 5) {
    const written = stuck[index % stuck.length]!.replace('$2', other).replace(/\$(?!USER)/, name)
    return never(draw.pick(forms(name, written))[0])
  }
  const [text, action] = draw.pick(forms(name, around[index % around.length]!.replace('$', name)))
  return mayDo(text, action)
})

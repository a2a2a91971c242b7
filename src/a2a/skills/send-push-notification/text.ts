import { quoted, targetIn } from '../../text/sentences.ts'
import { type SkillText, target } from '../../text/skill-text.ts'

/** The fields of a push with the word that a description uses for each. */
const fields = new Map([
  ['title', 'title'],
  ['body', 'body'],
  ['imageUrl', 'image'],
  ['landingUrl', 'link']
])

const push = '(push|notification|message | push notification|message)'

export const sendPushText: SkillText = {
  skill: 'send-push-notification',
  does: 'send pushes',
  forms: [
    {
      pattern: `send [a|the] ${push} [to <target>] [<content>]`,
      example: 'Send a push to user ana with title "Hello" and body "Welcome back"'
    },
    {
      pattern: `send [a|the] ${push} <content> to <target>`,
      example: 'Send a push with title "Sale" and link "shop://sale" to device ana-phone'
    },
    { pattern: `send <recipient> a|the ${push} [<content>]`, example: 'Send user ana a push saying "See you at 8"' },
    { pattern: 'send|push <body> to <target>', example: 'Send "Hello there" to user ana' },
    {
      pattern: 'notify|message|alert|tell <target> (<content> | [:|,|that] <body>)',
      example: 'Notify device ana-phone: "Your table is ready"'
    }
  ],
  needs: [
    target,
    {
      asked: 'body',
      fields: ['title', 'body'],
      question: 'What is the push to say? Put it in quotes.',
      answer: '<body> | <content>'
    }
  ],
  shows: ['projectUserId', 'deviceId', 'userId', ...fields.keys()],
  describe(data) {
    const texts = [...fields]
      .filter(([field]) => data[field] !== undefined)
      .map(([field, word]) => `${word} ${quoted(data[field])}`)
    return `Send a push to ${targetIn(data)}${texts.length > 0 ? ` with the ${texts.join(', the ')}` : ''}.`
  }
}

import { phrases, words } from '../../text/phrases.ts'
import { quoted, targetIn } from '../../text/sentences.ts'
import type { ContentText, SkillText } from '../../text/skill-text.ts'

const content: ContentText = {
  fields: new Map([
    ['title', 'title'],
    ['body', 'body'],
    ['imageUrl', 'image'],
    ['landingUrl', 'link']
  ]),
  oneOf: ['title', 'body'],
  main: 'body',
  question: 'What is the push to say? Put it in quotes.',
  phrases: [
    ...named('title', 'title | titled | headline | heading | entitled | with title | with the title'),
    ...named(
      'body',
      `body | text | message | content | saying | that says | which says | says | stating | that reads | reading | telling them
       | message body | body text | message text`
    ),
    ...named('imageUrl', 'image url | image | picture | image link | image_url | imageurl | picture url'),
    ...named(
      'landingUrl',
      `landing url | landing page | link | url | linking to | leading to | that opens | which opens | opening | landing_url
       | landingurl | deep link | landing link | that links to | which links to`
    )
  ],
  keys: new Map([
    ['title', 'title'],
    ['body', 'body'],
    ['text', 'body'],
    ['message', 'body'],
    ['image', 'imageUrl'],
    ['imageurl', 'imageUrl'],
    ['image_url', 'imageUrl'],
    ['landing', 'landingUrl'],
    ['landingurl', 'landingUrl'],
    ['landing_url', 'landingUrl'],
    ['link', 'landingUrl'],
    ['url', 'landingUrl']
  ]),
  // An image comes from the web; a tap may open a place in the app.
  addresses: new Map([
    ['imageUrl', /^https?:\/\/\S+$/i],
    ['landingUrl', /^(?!javascript:|data:)[a-z][a-z\d+.-]*:\/\/\S+$/i]
  ]),
  twice: (field) => `There are two texts for the ${field}. Which is the title, which the body?`,
  quote: 'Put the text of the push in quotes.',
  noField: (key, listed) =>
    listed ? `A push goes to one user or one device at a time, and has no field ${key}.` : `A push has no field ${key}.`
}

function named(field: string, text: string): [readonly string[], string][] {
  return phrases(text).map((phrase) => [phrase, field])
}

export const sendPushText: SkillText = {
  skill: 'send-push-notification',
  offer: {
    place: 3,
    does: 'send pushes',
    example: 'Send a push to user ana with title "Hello" and body "Welcome back".'
  },
  verbs: phrases('send | deliver | push | notify | message | alert | tell | inform | ping'),
  bareVerbs: phrases('send | deliver | push | notify | message | alert | tell | inform | ping'),
  verbForms: words('sending delivering pushing notifying messaging alerting telling informing pinging'),
  nouns: phrases(`push notification | push message | push | notification | message | alert | push-notification
    | pushes | notifications | messages | mobile push | mobile notification | reminder
    | test push | test notification | test push notification | test message`),
  plurals: words('pushes notifications messages'),
  oneAtATime: 'I can send one push at a time.',
  reserved: words('push notification message'),
  telling: words('alert message'),
  content,
  audience: 'one',
  properties: false,
  // In "push message …" the verb is the push, and `message` names its body.
  isNoun: (verb, noun) => verb !== 'push' || !content.phrases.some(([[first]]) => first === noun),
  describe(data) {
    const texts = [...content.fields]
      .filter(([field]) => data[field] !== undefined)
      .map(([field, word]) => `${word} ${quoted(data[field])}`)
    return `Send a push to ${targetIn(data)}${texts.length > 0 ? ` with the ${texts.join(', the ')}` : ''}.`
  }
}

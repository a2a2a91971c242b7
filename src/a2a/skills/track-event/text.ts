import { phrases, words } from '../../text/phrases.ts'
import { propertiesIn, quoted, targetIn } from '../../text/sentences.ts'
import type { SkillText } from '../../text/skill-text.ts'

export const trackEventText: SkillText = {
  skill: 'track-event',
  offer: {
    place: 2,
    does: 'track events',
    example: 'Track event purchase for user ana with amount=49.9.'
  },
  verbs:
    phrases(`track | create | add | register | make | insert | upsert | set up | sign up | record | log | capture | report
    | send | deliver | fire | emit | raise`),
  // Without the word event the others mean other things as often: log out, report spam, capture payment.
  bareVerbs: phrases('track'),
  verbForms: words('tracking recording logging capturing reporting emitting raising'),
  nouns: phrases('event | events'),
  plurals: words('events'),
  reserved: words('event events'),
  name: {
    field: 'eventName',
    keys: words('event eventname event_name'),
    question: 'What is the name of the event?',
    isUserId: false
  },
  audience: 'one',
  properties: true,
  describe: (data) =>
    `Track the event ${data.eventName === undefined ? '(no name so far)' : quoted(data.eventName)} for ${targetIn(data)}${propertiesIn(data)}.`
}

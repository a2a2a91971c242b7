import { propertiesIn, quoted, targetIn } from '../../text/sentences.ts'
import { nameOf, type SkillText, target } from '../../text/skill-text.ts'

const rest = '[<properties>] [for|on <target>] [<properties>]'

export const trackEventText: SkillText = {
  skill: 'track-event',
  does: 'track events',
  forms: [
    {
      pattern: `track|log|record [the|an] event [called|named] [:] [<eventName>] ${rest}`,
      example: 'Track event purchase for user ana with amount=49.99'
    },
    {
      pattern: `track|log|record a|an|the <quotedEventName> event ${rest}`,
      example: 'Log an "order completed" event on device ana-phone with properties {"total": 99.5}'
    },
    {
      pattern: `track|log|record a|an|the <eventName> event ${rest}`,
      example: 'Log a purchase event for user ana',
      // As in "log an important event".
      because: 'The word before event may be its name or describe it.'
    },
    {
      pattern: 'track <eventName> for|on <recipient> [<properties>]',
      example: 'Track purchase for user ana',
      because: 'The word event is not in it.'
    }
  ],
  needs: [
    nameOf('eventName', 'event', 'name', 'What is the name of the event? Say for example: event purchase.'),
    target
  ],
  shows: ['eventName', 'projectUserId', 'deviceId', 'userId', 'properties'],
  describe: (data) =>
    `Track the event ${data.eventName === undefined ? '(no name so far)' : quoted(data.eventName)} for ${targetIn(data)}${propertiesIn(data)}.`
}

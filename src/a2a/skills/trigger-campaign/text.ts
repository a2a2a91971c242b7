import { phrases, words } from '../../text/phrases.ts'
import { audienceIn, propertiesIn, quoted } from '../../text/sentences.ts'
import type { SkillText } from '../../text/skill-text.ts'

export const triggerCampaignText: SkillText = {
  skill: 'trigger-campaign',
  offer: { place: 4, does: 'trigger campaigns', example: 'Trigger campaign welcome for user ana.' },
  verbs:
    phrases(`trigger | broadcast | send | deliver | fire | start | launch | run | execute | activate | begin | kick off
    | fire off | start off | set off`),
  bareVerbs: phrases('trigger'),
  verbForms: words('triggering broadcasting starting launching running firing executing activating'),
  nouns: phrases('campaign | campaigns'),
  plurals: words('campaigns'),
  reserved: words('campaign campaigns'),
  name: {
    field: 'campaignId',
    keys: words('campaign campaignid campaign_id'),
    question: 'What is the id of the campaign?',
    isUserId: false
  },
  audience: 'many',
  properties: true,
  verbMeans: (verb) => (verb === 'broadcast' ? { everyone: true } : undefined),
  describe(data, open) {
    const name = data.campaignId === undefined ? '(none so far)' : quoted(data.campaignId)
    // Not "for everyone with plan premium": properties choose no recipients.
    const passed = propertiesIn(data).replace(/^ with /, ', and pass it ')
    return `Trigger the campaign ${name} for ${open ? 'nobody so far' : audienceIn(data)}${passed}.`
  }
}

import { audienceIn, propertiesIn, quoted, timeIn } from '../../text/sentences.ts'
import { audience, nameOf, type SkillText } from '../../text/skill-text.ts'

const verb = 'trigger|start|launch|run'
const rest = '[for|to (<audience> | <candidate>)] [<properties>]'

export const triggerCampaignText: SkillText = {
  skill: 'trigger-campaign',
  does: 'trigger campaigns',
  forms: [
    {
      pattern: `${verb} [the|a] campaign [called|named] [:] [<campaignId>] ${rest}`,
      example: 'Trigger campaign welcome for users ana and bo with discount=10'
    },
    {
      pattern: `${verb}|send the <campaignId> campaign ${rest}`,
      example: 'Start the "Spring Sale" campaign for everyone'
    }
  ],
  needs: [
    nameOf('campaignId', 'campaign', 'id|name', 'What is the id of the campaign? Say for example: campaign welcome.'),
    audience
  ],
  many: true,
  shows: ['campaignId', 'broadcast', 'targets', 'properties', 'sendAt'],
  describe(data, open) {
    const name = data.campaignId === undefined ? '(none so far)' : quoted(data.campaignId)
    // Not "for everyone with plan premium": properties choose no recipients.
    const passed = propertiesIn(data).replace(/^ with /, ', and pass it ')
    return `Trigger the campaign ${name} for ${open ? 'nobody so far' : audienceIn(data)}${passed}${timeIn(data)}.`
  }
}

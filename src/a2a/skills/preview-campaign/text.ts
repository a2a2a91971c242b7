import { audienceIn, propertiesIn, quoted } from '../../text/sentences.ts'
import { nameOf, type SkillText } from '../../text/skill-text.ts'

const rest = '[for|to <audience>] [<properties>]'

export const previewCampaignText: SkillText = {
  skill: 'preview-campaign',
  does: 'preview campaigns',
  forms: [
    {
      pattern: `preview [the|a] campaign [<campaignId>] ${rest}`,
      example: 'Preview campaign welcome for everyone'
    },
    { pattern: `preview the <campaignId> campaign ${rest}`, example: 'Preview the "Spring Sale" campaign for user ana' }
  ],
  needs: [
    nameOf('campaignId', 'campaign', 'id|name', 'What is the id of the campaign? Say for example: campaign welcome.')
  ],
  reads: true,
  many: true,
  shows: ['campaignId', 'broadcast', 'targets', 'properties'],
  describe(data) {
    const name = data.campaignId === undefined ? '(none so far)' : quoted(data.campaignId)
    const passed = propertiesIn(data).replace(/^ with /, ', and pass it ')
    return `Preview the campaign ${name} for ${audienceIn(data)}${passed}.`
  }
}

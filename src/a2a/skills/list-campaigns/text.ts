import { quoted } from '../../text/sentences.ts'
import type { SkillText } from '../../text/skill-text.ts'

export const listCampaignsText: SkillText = {
  skill: 'list-campaigns',
  does: 'list campaigns',
  forms: [{ pattern: 'list|show [me] [all] [the|my|our] campaigns [matching <query>]', example: 'List campaigns' }],
  needs: [],
  reads: true,
  shows: ['query'],
  describe: ({ query }) => `List the campaigns${query === undefined ? '' : ` that contain ${quoted(query)}`}.`
}

import { Type } from '@sinclair/typebox'
import type { Campaign } from '../../../campaigns/campaigns.ts'
import { Complete, List, PageSize, Time } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { listCampaignsText } from './text.ts'

const most = 100
const usual = 20

const schema = Type.Object({
  skill: Type.Literal('list-campaigns'),
  query: Type.Optional(Type.String({ maxLength: 256, description: 'A part of the id or of the name.' })),
  pageSize: PageSize(most, usual)
})

const output = Type.Object({
  campaigns: List(
    Type.Object({
      campaignId: Type.String(),
      name: Type.String(),
      type: Type.String({ description: 'api_triggered, scheduled or event_triggered.' }),
      status: Type.String({ description: 'draft, active, paused or archived.' }),
      version: Type.Integer({ description: 'Increases with every change.' }),
      canBeTriggered: Type.Boolean({ description: 'Whether trigger-campaign takes it: api_triggered and active.' }),
      defaultAudience: Type.String({
        description: 'Who gets it where a trigger names nobody: broadcast, targets, or none.'
      }),
      updatedAt: Time()
    }),
    'The newest first.'
  ),
  complete: Complete
})

export const listCampaigns: MakeSkill = (does) => ({
  id: 'list-campaigns',
  name: 'List Campaigns',
  description: 'Lists campaigns with their states, the newest first, or those whose id or name contains a text.',
  tags: ['campaign', 'marketing', 'read'],
  examples: ['List campaigns'],
  effect: 'read',
  rest: ['GET /campaigns', 'GET /campaigns/{campaign_id}'],
  extension: true,
  example: { skill: 'list-campaigns', query: 'sale' },
  artifact: {
    name: 'campaigns',
    example: { campaigns: [{ campaignId: 'spring-sale', status: 'active', canBeTriggered: true }], complete: true }
  },
  text: listCampaignsText,
  schema,
  output,
  async run({ projectId, fields }) {
    const { query, pageSize = usual } = fields as { query?: string; pageSize?: number }
    const rows = await does.campaigns.newest(projectId, { text: query, limit: pageSize + 1 })
    const campaigns = rows.slice(0, pageSize).map(({ id, version, definition, updated_at }) => ({
      campaignId: id,
      name: definition.name,
      type: definition.type,
      status: definition.status,
      version,
      canBeTriggered: definition.type === 'api_triggered' && definition.status === 'active',
      defaultAudience: audienceOf(definition),
      updatedAt: updated_at.toISOString()
    }))
    const complete = rows.length <= pageSize
    return { kind: 'completed', artifacts: [result('campaigns', { campaigns, complete })] }
  }
})

const audienceOf = ({ default_audience }: Campaign) =>
  default_audience ? (default_audience.broadcast ? 'broadcast' : 'targets') : 'none'

import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { newId } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { Loaded } from '../../parts/states.tsx'
import { CopyBlock } from '../../parts/texts.tsx'
import type { StoredCampaign } from './campaigns.tsx'
import { fileOf } from './editor.tsx'

/** The same campaign from a shell, from an agent, and as a file. */
export function CampaignSnippets({ campaign }: { campaign: StoredCampaign }) {
  const projectId = useProjectId()
  const base = location.origin
  const id = campaign.campaign_id
  const body = JSON.stringify({ audience: { targets: [{ project_user_id: 'demo-user' }] }, properties: {} })
  const curl = `curl -X POST ${quoted(`${base}/api/v1/campaigns/${encodeURIComponent(id)}:trigger`)} \\
  -H 'X-Service-Project-ID: ${projectId}' -H 'X-Service-API-Key: <secret key>' \\
  -H 'Content-Type: application/json' -d ${quoted(body)}`
  const call = {
    jsonrpc: '2.0',
    id: '1',
    method: 'SendMessage',
    params: {
      message: {
        messageId: newId(),
        role: 'user',
        parts: [{ data: { skill: 'trigger-campaign', campaignId: id, targets: [{ projectUserId: 'demo-user' }] } }]
      }
    }
  }
  const agent = `curl -X POST '${base}/a2a' -H 'X-API-Key: <secret key>' -H 'A2A-Version: 1.0' \\
  -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(call))}`
  const yaml = useQuery({
    queryKey: ['yaml', campaign],
    // Only who opens this tab loads it.
    queryFn: async () =>
      // Quoted where another reader of YAML would take a text for a number or a truth: 22:00, yes.
      (await import('yaml')).stringify(inOrder(fileOf(campaign)), { lineWidth: 100, compat: 'yaml-1.1' })
  })
  return (
    <Stack>
      <Title order={2} size="h4">
        API
      </Title>
      <CopyBlock label="curl" text={curl} />
      <Title order={2} size="h4">
        Agent (A2A)
      </Title>
      <CopyBlock label="A2A call" text={agent} />
      <Title order={2} size="h4">
        YAML file for npx tidings campaign apply -f
      </Title>
      <Loaded query={yaml}>{(text) => <CopyBlock label="YAML" text={text} />}</Loaded>
    </Stack>
  )
}

/** For a shell, as it is: an id may hold any sign. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** As the docs tell of them. The database keeps no order, and a file is read by people. */
const order = [
  ...['campaign_id', 'name', 'type', 'status', 'segment', 'default_audience', 'message', 'live_activity'],
  ...['attribute', 'event', 'operator', 'count', 'within', 'value', 'where'],
  ...['title', 'body', 'image_url', 'landing_url', 'attributes_type', 'attributes', 'content_state', 'alert'],
  ...['from', 'to', 'timezone', 'action']
]
const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted = Object.entries(value).sort(([one], [two]) => rank(one) - rank(two))
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]))
}

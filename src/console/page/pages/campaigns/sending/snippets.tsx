import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Campaign } from '../../../../../wire.ts'
import { newId } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { objectOr } from '../../../parts/json.ts'
import { useSessionState } from '../../../parts/session-state.ts'
import { Loaded } from '../../../parts/states.tsx'
import { CopyBlock } from '../../../parts/texts.tsx'
import { draftOf } from '../draft.ts'
import { withPlaceholders } from '../preview/trigger-values.ts'
import { useTriggerProperties } from './dry-run.ts'

/** The campaign as a curl call, as a call of an agent, and as a file. */
export function CampaignSnippets({ campaign }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const base = location.origin
  const id = campaign.campaign_id
  // Prefilled with what was typed into the preview.
  const [typed] = useSessionState(`preview properties ${id}`, '{}')
  const properties = withPlaceholders(objectOr(typed, {}), useTriggerProperties(campaign))
  const body = JSON.stringify({ audience: { targets: [{ project_user_id: 'demo-user' }] }, properties })
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
        parts: [
          { data: { skill: 'trigger-campaign', campaignId: id, targets: [{ projectUserId: 'demo-user' }], properties } }
        ]
      }
    }
  }
  const agent = `curl -X POST '${base}/a2a' -H 'X-API-Key: <secret key>' -H 'A2A-Version: 1.0' \\
  -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(call))}`
  const yaml = useQuery({
    queryKey: ['yaml', campaign],
    // The YAML library is loaded with this tab only.
    queryFn: async () =>
      // YAML 1.1 readers take 22:00 for a number and yes for true, so such texts are quoted.
      (await import('yaml')).stringify(inOrder(draftOf(campaign)), { lineWidth: 100, compat: 'yaml-1.1' })
  })
  return (
    <Stack>
      {campaign.type === 'api_triggered' && (
        <>
          <Title order={2} size="h4">
            API
          </Title>
          <CopyBlock label="curl" text={curl} />
          <Title order={2} size="h4">
            Agent (A2A)
          </Title>
          <CopyBlock label="A2A call" text={agent} />
        </>
      )}
      <Title order={2} size="h4">
        YAML file for npx tidings campaign apply -f
      </Title>
      <Loaded query={yaml}>{(text) => <CopyBlock label="YAML" text={text} />}</Loaded>
    </Stack>
  )
}

/** Quotes a text for the shell: an ID may hold any character. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The order of fields in the docs. The database keeps none, and people read the file. */
const order = [
  ...['campaign_id', 'id', 'name', 'type', 'status', 'schedule', 'event_trigger', 'segment', 'default_audience'],
  ...['topic', 'transactional', 'weight', 'wait', 'message', 'variants', 'steps', 'exit', 'live_activity'],
  ...['at', 'cron', 'ref', 'attribute', 'event', 'operator', 'count', 'within', 'value', 'where', 'delay', 'unless'],
  ...['title', 'body', 'image_url', 'landing_url', 'attributes_type', 'attributes', 'content_state', 'alert'],
  ...['language', 'translations', 'from', 'to', 'timezone', 'action']
]
const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted = Object.entries(value).sort(([one], [two]) => rank(one) - rank(two))
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]))
}

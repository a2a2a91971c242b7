import { Alert, Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { manage, project } from '../../api/client.ts'
import { useProject, useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/texts.tsx'
import { conditionOf, type Settings as FaultSettings } from '../lab/gateway-conditions.tsx'

const gatewayNames = { apns: 'Apple (APNs)', fcm: 'Google (FCM)', webpush: 'Browsers (Web Push)' }

/** Simulated ones are as the lab sets them; live ones have a credential or not. */
export function GatewayHealth() {
  const projectId = useProjectId()
  const mode = useProject()?.mode
  const faults = useQuery({
    queryKey: ['faults', projectId],
    queryFn: () => project<FaultSettings>(projectId, 'GET', '/simulator/faults'),
    enabled: mode === 'simulator',
    refetchInterval: 5_000
  })
  const saved = useQuery(gatewaysOf(projectId))
  const conditionNow = (gateway: keyof typeof gatewayNames): [string, string] => {
    if (mode === 'simulator') {
      const now = faults.data && conditionOf(faults.data[gateway])
      return now ? [`Simulated · ${now.toLowerCase()}`, now === 'Healthy' ? 'teal' : 'red'] : ['Simulated', 'gray']
    }
    return saved.data?.items.some((item) => item.gateway === gateway)
      ? ['Configured', 'teal']
      : ['Not configured', 'gray']
  }
  return (
    <Panel title="Gateways" mb="md">
      {Object.entries(gatewayNames).map(([gateway, name]) => {
        const [text, color] = conditionNow(gateway as keyof typeof gatewayNames)
        return (
          <Group key={gateway} justify="space-between" mb={6}>
            <Text size="sm">{name}</Text>
            <Badge variant="light" color={color}>
              {text}
            </Badge>
          </Group>
        )
      })}
    </Panel>
  )
}

export const gatewaysOf = (projectId: string) => ({
  queryKey: ['gateways', projectId],
  queryFn: () => project<{ items: { gateway: string }[] }>(projectId, 'GET', '/gateways')
})

const useNodes = () =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: () => manage<{ items: { id: string; role: string; host?: string; seen_at: string }[] }>('GET', '/nodes'),
    refetchInterval: 5_000,
    retry: false
  })

/** On every page: what is accepted now waits until a worker starts. */
export function NoWorker() {
  const nodes = useNodes().data?.items
  if (!nodes || nodes.length === 0 || nodes.some(({ role }) => role !== 'api')) return null
  return (
    <Alert color="red" mb="md" role="status" title="No node runs jobs">
      Triggers, retries, agent tasks and webhooks are waiting. Start a node with --role worker or --role all.
    </Alert>
  )
}

export function Nodes() {
  const nodes = useNodes()
  if (nodes.error) return null
  return (
    <Panel title="Nodes">
      {nodes.data?.items.map(({ id, role, host, seen_at }) => (
        <Group key={id} justify="space-between">
          <Text size="sm">{host ?? `Node ${id.slice(-6)}`}</Text>
          <Badge variant="light">{role === 'all' ? 'API + worker' : role}</Badge>
          <Text size="xs" c="dimmed">
            <When at={seen_at} />
          </Text>
        </Group>
      ))}
    </Panel>
  )
}

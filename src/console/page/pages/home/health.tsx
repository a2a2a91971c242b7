import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Faults, GatewayCredential } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useNodes } from '../../api/nodes.ts'
import { useProject, useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/texts.tsx'
import { conditionOf, isHealthy } from '../lab/conditions.ts'

const gatewayNames = { apns: 'Apple (APNs)', fcm: 'Google (FCM)', webpush: 'Browsers (Web Push)' }
type Gateway = keyof typeof gatewayNames

/** Simulated gateways show the condition set in the lab, live ones whether they have credentials. */
export function GatewayHealth() {
  const projectId = useProjectId()
  const mode = useProject()?.mode
  const faults = useQuery({
    queryKey: ['faults', projectId],
    queryFn: () => project<Faults>(projectId, 'GET', '/simulator/faults'),
    enabled: mode === 'simulator',
    meta: { kinds: ['simulator'] }
  })
  const saved = useQuery(gatewaysOf(projectId))
  const badgeOf = (gateway: Gateway): [text: string, color: string] => {
    if (mode === 'simulator') {
      const now = faults.data && conditionOf(faults.data[gateway])
      return now ? [`Simulated · ${now.label.toLowerCase()}`, isHealthy(now) ? 'teal' : 'red'] : ['Simulated', 'gray']
    }
    const configured = saved.data?.items.some((item) => item.gateway === gateway)
    return configured ? ['Configured', 'teal'] : ['Not configured', 'gray']
  }
  return (
    <Panel title="Gateways" mb="md">
      {Object.entries(gatewayNames).map(([gateway, name]) => {
        const [text, color] = badgeOf(gateway as Gateway)
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
  queryFn: () => project<{ items: GatewayCredential[] }>(projectId, 'GET', '/gateways'),
  meta: { kinds: ['gateways'] as const }
})

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

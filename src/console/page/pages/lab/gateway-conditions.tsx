import { Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ErrorAlert } from '../../parts/states.tsx'

type Gateway = 'apns' | 'fcm' | 'webpush'
export type Settings = Record<Gateway, { down: boolean; latency_ms: number; error_rate: number; error_status: number }>

const healthy = { down: false, latency_ms: 0, error_rate: 0, error_status: 503 }
const conditions = {
  Healthy: [healthy, 'Every push is accepted immediately.'],
  Slow: [{ ...healthy, latency_ms: 3_000 }, 'Responses take 3 seconds, and sends wait for them.'],
  503: [
    { ...healthy, error_rate: 1, error_status: 503 },
    'Every push is rejected with 503. Sends are retried and stay pending.'
  ],
  Unregistered: [
    { ...healthy, error_rate: 1, error_status: 410 },
    'As if the app were uninstalled on every device. Tokens are turned off, unless the number of rejections points to a wrong credential.'
  ],
  Down: [{ ...healthy, down: true }, 'Connections fail. Sends are retried and stay pending.']
} as const
type Condition = `${keyof typeof conditions}`

const gateways: [Gateway, string][] = [
  ['apns', 'iPhones'],
  ['fcm', 'Android phones'],
  ['webpush', 'Browsers']
]

/** The knobs: what is wrong with each gateway, and what that does. */
export function Faults() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const queries = useQueryClient()
  const key = ['faults', projectId]
  const faults = useQuery({ queryKey: key, queryFn: () => project<Settings>(projectId, 'GET', '/simulator/faults') })
  const change = useMutation({
    mutationFn: ([gateway, condition]: [Gateway, Condition]) =>
      project(projectId, 'PUT', '/simulator/faults', { body: { [gateway]: conditions[condition][0] } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: key })
  })
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Gateway conditions
      </Title>
      {(faults.error ?? change.error) && <ErrorAlert error={(faults.error ?? change.error)!} />}
      {faults.data &&
        gateways.map(([gateway, label]) => {
          const now = conditionOf(faults.data[gateway])
          return (
            <Group key={gateway} gap="sm">
              <Text w={120}>{label}</Text>
              <SegmentedControl
                aria-label={`Condition of ${label}`}
                disabled={!may}
                value={now}
                onChange={(condition) => change.mutate([gateway, condition as Condition])}
                data={['Healthy', 'Slow', '503', 'Unregistered', 'Down']}
              />
              <Text size="sm" c="dimmed" maw={420}>
                {conditions[now][1]}
              </Text>
            </Group>
          )
        })}
    </Stack>
  )
}

export function conditionOf({ down, latency_ms, error_rate, error_status }: Settings[Gateway]): Condition {
  if (down) return 'Down'
  if (error_rate > 0) return error_status === 410 ? 'Unregistered' : '503'
  return latency_ms > 0 ? 'Slow' : 'Healthy'
}

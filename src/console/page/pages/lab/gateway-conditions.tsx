import { Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Faults } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { type Condition, conditionOf, conditions, isHealthy } from './conditions.ts'

const gateways: [keyof Faults, string][] = [
  ['apns', 'APNs (iPhones)'],
  ['fcm', 'FCM (Android phones)'],
  ['webpush', 'Web Push (browsers)']
]

/** Lets each simulated gateway fail in one of a few ways, and shows the effect on sends. */
export function GatewayConditions() {
  const projectId = useProjectId()
  const canChange = useHasRole('editor')
  const queries = useQueryClient()
  const key = ['faults', projectId]
  const faults = useQuery({ queryKey: key, queryFn: () => project<Faults>(projectId, 'GET', '/simulator/faults') })
  const change = useMutation({
    mutationFn: ([gateway, { faults }]: [keyof Faults, Condition]) =>
      project(projectId, 'PUT', '/simulator/faults', { body: { [gateway]: faults } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: key })
  })
  const error = faults.error ?? change.error
  return (
    <Paper withBorder p="sm" component="section" aria-label="Gateway conditions">
      <Title order={2} size="h5" mb="xs">
        Gateway conditions
      </Title>
      {error && <ErrorAlert error={error} />}
      {!faults.data && !error && <Loading lines={3} />}
      <Stack gap="xs">
        {faults.data &&
          gateways.map(([gateway, label]) => {
            const now = conditionOf(faults.data[gateway])
            return (
              <div key={gateway}>
                <Group gap="xs" justify="space-between">
                  <Text size="sm">{label}</Text>
                  <SegmentedControl
                    aria-label={`Condition of ${label}`}
                    size="xs"
                    disabled={!canChange}
                    value={now.label}
                    onChange={(chosen) => change.mutate([gateway, conditions.find((each) => each.label === chosen)!])}
                    data={conditions.map((each) => each.label)}
                  />
                </Group>
                {!isHealthy(now) && (
                  <Text size="xs" c="dimmed">
                    {now.effect}
                  </Text>
                )}
              </div>
            )
          })}
      </Stack>
    </Paper>
  )
}

import { Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Faults } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { type Condition, conditionOf, conditions } from './conditions.ts'

const gateways: [keyof Faults, string][] = [
  ['apns', 'iPhones'],
  ['fcm', 'Android phones'],
  ['webpush', 'Browsers']
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
    <Stack gap="xs">
      <Title order={2} size="h4">
        Gateway conditions
      </Title>
      {error && <ErrorAlert error={error} />}
      {faults.data &&
        gateways.map(([gateway, label]) => {
          const now = conditionOf(faults.data[gateway])
          return (
            <Group key={gateway} gap="sm">
              <Text w={120}>{label}</Text>
              <SegmentedControl
                aria-label={`Condition of ${label}`}
                disabled={!canChange}
                value={now.label}
                onChange={(chosen) => change.mutate([gateway, conditions.find((each) => each.label === chosen)!])}
                data={conditions.map((each) => each.label)}
              />
              <Text size="sm" c="dimmed" maw={420}>
                {now.effect}
              </Text>
            </Group>
          )
        })}
    </Stack>
  )
}

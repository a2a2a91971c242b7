import { Button, Group, Paper, Select, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { fieldError, fieldOrFormError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import type { Platform } from '../../parts/phone.tsx'
import { useSessionState } from '../../parts/session-state.ts'

export const names: Record<Platform, string> = { IOS: 'iPhone', ANDROID: 'Android phone', WEB: 'Browser' }

/** A phone more with one click: it registers itself as an app would. */
export function AddDevices() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const queries = useQueryClient()
  const [user, setUser] = useSessionState('phone of', 'demo-user')
  const [fault, setFault] = useState('')
  const add = useMutation({
    mutationFn: (platform: Platform) =>
      project(projectId, 'POST', '/simulator/devices', {
        body: { platform, ...(user && { project_user_id: user }), ...(fault && { fault }) }
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['list', projectId, '/devices'] })
  })
  if (!may) return null
  const wrongFault = fieldError(add.error, 'fault')
  return (
    <Paper withBorder p="sm" component="section" aria-label="Add a device">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Add a device
        </Title>
        <Group gap="xs" align="start" grow>
          <TextInput
            label="User ID"
            size="xs"
            value={user}
            error={wrongFault ? undefined : fieldOrFormError(add.error, 'project_user_id')}
            onChange={({ currentTarget }) => setUser(currentTarget.value)}
          />
          <Select
            label="Simulated fault"
            size="xs"
            allowDeselect={false}
            value={fault}
            error={wrongFault}
            onChange={(chosen) => setFault(chosen ?? '')}
            data={[
              { value: '', label: 'None' },
              { value: '410', label: 'App uninstalled' },
              { value: 'slow:3000', label: 'Slow responses' },
              { value: 'flaky:2', label: 'Fails twice, then works' }
            ]}
          />
        </Group>
        <Group gap="xs">
          {(Object.keys(names) as Platform[]).map((platform) => (
            <Button
              key={platform}
              variant="light"
              size="xs"
              loading={add.isPending}
              onClick={() => add.mutate(platform)}
            >
              Add {names[platform]}
            </Button>
          ))}
        </Group>
      </Stack>
    </Paper>
  )
}

import { Button, Group, Paper, Select, Stack, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Device } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError, fieldOrFormError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import type { Platform } from '../../parts/phone/phone.tsx'
import { toast } from '../../parts/toasts.tsx'

export const platformNames: Record<Platform, string> = { IOS: 'iPhone', ANDROID: 'Android phone', WEB: 'Browser' }

/** Adds a simulated device with one click. It registers itself as an app would. */
export function AddDevice() {
  const projectId = useProjectId()
  const canAdd = useHasRole('editor')
  const queries = useQueryClient()
  const { form, sending } = useApiForm({
    initialValues: { user: 'demo-user', fault: '', platform: 'IOS' as Platform },
    send: ({ user, fault, platform }) =>
      project<Device>(projectId, 'POST', '/simulator/devices', {
        body: { platform, ...(user && { project_user_id: user }), ...(fault && { fault }) }
      }),
    onSuccess: ({ id }) => {
      toast(`Added ${id}.`)
      return queries.invalidateQueries({ queryKey: ['phones', projectId] })
    },
    errors: (error) => {
      const fault = fieldError(error, 'fault')
      return { fault, user: fault ? undefined : fieldOrFormError(error, 'project_user_id') }
    },
    draft: { name: 'device', omit: ['fault'] }
  })
  if (!canAdd) return null
  return (
    <Paper withBorder p="sm" component="section" aria-label="Add a device">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Add a device
        </Title>
        <Group gap="xs" align="start" grow>
          <TextInput {...form.getInputProps('user')} label="User ID" size="xs" />
          <Select
            {...form.getInputProps('fault')}
            label="Simulated fault"
            size="xs"
            allowDeselect={false}
            data={faults}
          />
        </Group>
        <Group gap="xs">
          {(Object.keys(platformNames) as Platform[]).map((platform) => (
            <Button
              key={platform}
              variant="light"
              size="xs"
              loading={sending.isPending}
              onClick={() => sending.mutate({ ...form.values, platform })}
            >
              Add {platformNames[platform]}
            </Button>
          ))}
        </Group>
      </Stack>
    </Paper>
  )
}

const faults = [
  { value: '', label: 'None' },
  { value: '410', label: 'App uninstalled' },
  { value: 'slow:3000', label: 'Slow responses' },
  { value: 'flaky:2', label: 'Fails twice, then works' }
]

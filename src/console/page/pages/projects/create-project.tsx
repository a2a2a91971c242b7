import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Project } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { conflictError } from '../../api/errors.ts'
import { errorsOf, useApiForm } from '../../parts/forms/api-form.ts'
import { pageLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'

export function CreateProject() {
  const [opened, { open, close }] = useDisclosure()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const initialValues = { name: '', id: '', mode: 'simulator' }
  const { form, sending, onSubmit } = useApiForm({
    initialValues,
    send: ({ id, ...values }) => manage<Project>('POST', '/projects', { body: { ...values, ...(id && { id }) } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] })
      void navigate({ to: pageLink(id, 'home') })
    },
    errors: (error) => {
      const errors = errorsOf(error, initialValues)
      return { ...errors, id: errors.id ?? conflictError(error) }
    }
  })
  return (
    <>
      <Button onClick={open}>Create project</Button>
      <Modal opened={opened} onClose={close} title="Create project" centered>
        <form onSubmit={onSubmit}>
          <Stack>
            <TextInput {...form.getInputProps('name')} label="Name" required data-autofocus />
            <TextInput
              {...form.getInputProps('id')}
              label="ID"
              description="Leave blank to generate. Can’t be changed later."
            />
            <Select
              {...form.getInputProps('mode')}
              label="Mode"
              allowDeselect={false}
              data={[
                { value: 'simulator', label: 'Simulator: nothing reaches real devices' },
                { value: 'live', label: 'Live' }
              ]}
            />
            {sending.error && <ErrorAlert error={sending.error} />}
            <Group justify="end">
              <Button type="submit" loading={sending.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

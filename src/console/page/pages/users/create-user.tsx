import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { project } from '../../api/client.ts'
import { fieldOrFormError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { userLink } from '../../parts/links.ts'

export function CreateUser() {
  const projectId = useProjectId()
  const canCreate = useHasRole('editor')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [opened, { open, close }] = useDisclosure()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { id: '' },
    send: ({ id }) => project(projectId, 'POST', '/api/v1/users', { body: { project_user_id: id } }),
    onSuccess: (_, { id }) => {
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/users'] })
      close()
      void navigate({ to: userLink(projectId, id) })
    },
    errors: (error) => ({ id: fieldOrFormError(error, 'project_user_id') })
  })
  if (!canCreate) return null
  return (
    <>
      <Button onClick={open}>Create user</Button>
      <Modal opened={opened} onClose={close} title="Create user" centered>
        <form onSubmit={onSubmit}>
          <Stack>
            <TextInput
              {...form.getInputProps('id')}
              label="ID"
              description="Your ID for this user."
              required
              data-autofocus
            />
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

import { Alert, Anchor, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { User } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { conflictError, fieldOrFormError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { userLink } from '../../parts/links.ts'
import { toast } from '../../parts/toasts.tsx'

export function CreateUser() {
  const projectId = useProjectId()
  const canCreate = useHasRole('editor')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [opened, { open, close }] = useDisclosure()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { id: '' },
    send: ({ id }) => project<User>(projectId, 'POST', '/users', { body: { project_user_id: id } }),
    onSuccess: (_, { id }) => {
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/users'] })
      // A page that showed it as deleted reads it again.
      void queries.removeQueries({ queryKey: ['user', projectId, id] })
      toast(`Created ${id}`)
      close()
      void navigate({ to: userLink(projectId, id) })
    },
    errors: (error) => ({ id: conflictError(error) ? undefined : fieldOrFormError(error, 'project_user_id') })
  })
  if (!canCreate) return null
  const taken = conflictError(sending.error) !== undefined && sending.variables?.id === form.values.id
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
              dir="auto"
              data-autofocus
            />
            {taken && (
              <Alert color="orange" role="alert" title="A user with this ID already exists">
                Nothing was changed.{' '}
                <Anchor component={Link} to={userLink(projectId, form.values.id)}>
                  Open this user
                </Anchor>
              </Alert>
            )}
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

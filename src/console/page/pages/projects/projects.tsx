import { Anchor, Badge, Button, Container, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Project } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { conflictError } from '../../api/errors.ts'
import { useHasRole, useIdentity, useProjects } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { errorsOf, useApiForm } from '../../parts/forms/api-form.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState, ErrorAlert, Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { When } from '../../parts/texts.tsx'

/** All projects of the installation. A token of one project sees only that project. */
export function Projects() {
  const projects = useProjects()
  const { data: identity } = useIdentity()
  const canManage = useHasRole('admin') && identity?.project_id === null
  return (
    <Container component="main" size="lg" py="lg">
      <PageLayout
        title="All projects"
        about="Each project has its own users, keys, campaigns and messages."
        actions={canManage && <CreateProject />}
      >
        <Loaded query={projects}>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState title="No projects yet">
                {canManage ? 'Create your first project above.' : 'Ask an admin to create one.'}
              </EmptyState>
            ) : (
              <SimpleTable
                label="Projects"
                items={items}
                keyOf={({ id }) => id}
                columns={canManage ? [...columns, deletion] : columns}
              />
            )
          }
        </Loaded>
      </PageLayout>
    </Container>
  )
}

const columns: Column<Project>[] = [
  {
    name: 'Name',
    show: ({ id, name }) => (
      <Anchor component={Link} to={pageLink(id, 'home')}>
        {name || id}
      </Anchor>
    )
  },
  { name: 'ID', show: ({ id }) => id },
  {
    name: 'Mode',
    show: ({ mode }) => (
      <Badge variant="light" color={mode === 'live' ? 'teal' : 'orange'}>
        {mode === 'live' ? 'Live' : 'Simulated'}
      </Badge>
    )
  },
  { name: 'Plan', show: ({ plan }) => plan },
  { name: 'Created', show: ({ created_at }) => <When at={created_at} /> }
]

const deletion: Column<Project> = { name: 'Actions', show: ({ id }) => <DeleteProject id={id} /> }

function DeleteProject({ id }: { id: string }) {
  const queries = useQueryClient()
  const remove = async () => {
    await manage('DELETE', `/projects/${encodeURIComponent(id)}`)
    await queries.invalidateQueries({ queryKey: ['projects'] })
  }
  return (
    <ConfirmButton
      label="Delete"
      title="Delete project?"
      question="Permanently deletes the project with its users, keys, campaigns and messages."
      type={id}
      act={remove}
    />
  )
}

function CreateProject() {
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

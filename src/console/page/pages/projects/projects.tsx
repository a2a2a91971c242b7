import { Anchor, Badge, Button, Container, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { manage } from '../../api/client.ts'
import { conflictError, fieldError } from '../../api/errors.ts'
import { type Project, useHasRole, useIdentity, useProjects } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState, ErrorAlert, Shown } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { When } from '../../parts/texts.tsx'

/** All projects of the installation; a token of one project sees that one. */
export function Projects() {
  const projects = useProjects()
  const { data: who } = useIdentity()
  const admin = useHasRole('admin') && who?.project_id === null
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['projects'] })
  return (
    <Container component="main" size="lg" py="lg">
      <PageLayout
        title="All projects"
        about="Each project has its own users, keys, campaigns and messages."
        actions={admin && <CreateProject />}
      >
        <Shown query={projects}>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState title="No projects yet">
                {admin ? 'Create your first project above.' : 'ConfirmButton an admin to create one.'}
              </EmptyState>
            ) : (
              <SimpleTable<Project>
                label="Projects"
                items={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    show: ({ id, name }) => (
                      <Anchor component={Link} to={`/p/${encodeURIComponent(id)}/home`}>
                        {name || id}
                      </Anchor>
                    )
                  },
                  { name: 'ID', show: ({ id }) => id },
                  {
                    name: 'Mode',
                    show: ({ mode }) => (
                      <Badge variant="light" color={mode === 'live' ? 'teal' : 'orange'}>
                        {mode === 'live' ? 'live' : 'simulated'}
                      </Badge>
                    )
                  },
                  { name: 'Plan', show: ({ plan }) => plan },
                  { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
                  {
                    name: 'Actions',
                    show: ({ id }) =>
                      admin && (
                        <ConfirmButton
                          label="Delete"
                          question="Permanently deletes the project with its users, keys, campaigns and messages."
                          type={id}
                          act={() => manage('DELETE', `/projects/${encodeURIComponent(id)}`).then(changed)}
                        />
                      )
                  }
                ]}
              />
            )
          }
        </Shown>
      </PageLayout>
    </Container>
  )
}

function CreateProject() {
  const [opened, { open, close }] = useDisclosure()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: (form: FormData) =>
      manage<Project>('POST', '/projects', {
        body: { name: form.get('name'), mode: form.get('mode'), ...(form.get('id') && { id: form.get('id') }) }
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] })
      void navigate({ to: `/p/${encodeURIComponent(id)}/home` })
    }
  })
  return (
    <>
      <Button onClick={open}>Create project</Button>
      <Modal opened={opened} onClose={close} title="Create project" centered>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            create.mutate(new FormData(event.currentTarget))
          }}
        >
          <Stack>
            <TextInput name="name" label="Name" error={fieldError(create.error, 'name')} required data-autofocus />
            <TextInput
              name="id"
              label="ID"
              description="Leave blank to generate. Can’t be changed later."
              error={fieldError(create.error, 'id') ?? conflictError(create.error)}
            />
            <Select
              name="mode"
              label="Mode"
              defaultValue="simulator"
              allowDeselect={false}
              error={fieldError(create.error, 'mode')}
              data={[
                { value: 'simulator', label: 'Simulator: nothing reaches real devices' },
                { value: 'live', label: 'Live' }
              ]}
            />
            {create.error && <ErrorAlert error={create.error} />}
            <Group justify="end">
              <Button type="submit" loading={create.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

import { Anchor, Badge, Button, Container, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { conflictIn, manage, problemAt } from '../../api.ts'
import { Ask } from '../../parts/ask.tsx'
import { PageOf } from '../../parts/page.tsx'
import { Empty, Failed, Shown } from '../../parts/states.tsx'
import { TableOf } from '../../parts/table.tsx'
import { When } from '../../parts/texts.tsx'
import { type Project, useMay, useProjects, useWho } from '../../who.ts'

/** All projects of the installation; a token of one project sees that one. */
export function Projects() {
  const projects = useProjects()
  const { data: who } = useWho()
  const admin = useMay('admin') && who?.project_id === null
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['projects'] })
  return (
    <Container component="main" size="lg" py="lg">
      <PageOf
        title="All projects"
        about="Each project has its own users, keys, campaigns and messages."
        actions={admin && <CreateProject />}
      >
        <Shown query={projects}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No projects yet">
                {admin ? 'Create your first project above.' : 'Ask an admin to create one.'}
              </Empty>
            ) : (
              <TableOf<Project>
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
                        <Ask
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
      </PageOf>
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
            <TextInput name="name" label="Name" error={problemAt(create.error, 'name')} required data-autofocus />
            <TextInput
              name="id"
              label="ID"
              description="Leave blank to generate. Can’t be changed later."
              error={problemAt(create.error, 'id') ?? conflictIn(create.error)}
            />
            <Select
              name="mode"
              label="Mode"
              defaultValue="simulator"
              allowDeselect={false}
              error={problemAt(create.error, 'mode')}
              data={[
                { value: 'simulator', label: 'Simulator: nothing reaches real devices' },
                { value: 'live', label: 'Live' }
              ]}
            />
            {create.error && <Failed error={create.error} />}
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

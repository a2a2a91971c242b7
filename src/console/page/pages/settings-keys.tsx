import { Alert, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { project } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { ListOf, usePages } from '../parts/list.tsx'
import { Empty, Failed } from '../parts/states.tsx'
import { CopyBlock, When } from '../parts/texts.tsx'
import { useProjectId } from '../who.ts'

interface Key {
  id: string
  kind: 'secret' | 'public'
  name: string
  prefix: string
  created_at: string
  last_used_at: string | null
}

export function Keys() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/keys'] })
  return (
    <Stack>
      <CreateKey done={changed} />
      <ListOf
        label="Keys"
        pages={usePages<Key>('/keys')}
        keyOf={({ id }) => id}
        empty={<Empty title="No keys">Servers call with a secret key, apps with a public one.</Empty>}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'Begins with', show: ({ prefix }) => <code>{prefix}…</code> },
          { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
          { name: 'Last used', show: ({ last_used_at }) => <When at={last_used_at} /> },
          {
            name: 'Revoke',
            show: ({ id, name }) => (
              <Ask
                label="Revoke"
                question={`Whoever uses the key “${name}” is refused from now on.`}
                act={() => project(projectId, 'DELETE', `/keys/${id}`).then(changed)}
              />
            )
          }
        ]}
      />
    </Stack>
  )
}

function CreateKey({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  const [opened, { open, close }] = useDisclosure()
  const create = useMutation({
    mutationFn: (wish: { kind: string; name: string }) =>
      project<{ key: string }>(projectId, 'POST', '/keys', { body: wish }),
    onSuccess: done
  })
  const leave = () => {
    close()
    create.reset()
  }
  return (
    <Group>
      <Button onClick={open}>Create a key</Button>
      <Modal opened={opened} onClose={leave} title="Create a key" centered>
        {create.data ? (
          <Stack>
            <Alert color="orange">This is the only time the key is shown. Keep it where your secrets are.</Alert>
            <CopyBlock text={create.data.key} label="key" />
            <Button onClick={leave}>I have it</Button>
          </Stack>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              const form = new FormData(event.currentTarget)
              create.mutate({ kind: String(form.get('kind')), name: String(form.get('name')) })
            }}
          >
            <Stack>
              <TextInput name="name" label="Name" description="Who will use it." required data-autofocus />
              <Select
                name="kind"
                label="Kind"
                defaultValue="secret"
                allowDeselect={false}
                data={[
                  { value: 'secret', label: 'Secret: for servers' },
                  { value: 'public', label: 'Public: for apps and browsers' }
                ]}
              />
              {create.error && <Failed error={create.error} />}
              <Button type="submit" loading={create.isPending}>
                Create
              </Button>
            </Stack>
          </form>
        )}
      </Modal>
    </Group>
  )
}

import { Select, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { project } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { ListOf, usePages } from '../parts/list.tsx'
import { CreateSecret } from '../parts/shown-once.tsx'
import { Empty } from '../parts/states.tsx'
import { When } from '../parts/texts.tsx'
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

const CreateKey = ({ done }: { done: () => unknown }) => {
  const projectId = useProjectId()
  return (
    <CreateSecret
      label="Create a key"
      what="key"
      warning="This is the only time the key is shown. Keep it where your secrets are."
      create={(form) =>
        project<{ key: string }>(projectId, 'POST', '/keys', {
          body: { kind: form.get('kind'), name: form.get('name') }
        })
      }
      secretOf={({ key }) => key}
      done={done}
      fields={(problem) => (
        <>
          <TextInput
            name="name"
            label="Name"
            description="Who will use it."
            error={problem('name')}
            required
            data-autofocus
          />
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
        </>
      )}
    />
  )
}

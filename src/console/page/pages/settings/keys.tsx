import { Alert, Badge, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CreateSecret } from '../../parts/create-secret.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

interface Key {
  id: string
  kind: 'secret' | 'public'
  name: string
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

export function Keys() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/keys'] })
  const pages = usePagedList<Key>('/keys')
  const keys = pages.data?.pages.flatMap(({ items }) => items) ?? []
  const ending = keys.filter((key) => endsSoon(key) && !isReplaced(key, keys))
  return (
    <Stack>
      <CreateKey done={changed} />
      {ending.length > 0 && (
        <Alert color="orange" role="status">
          {ending.map(({ name }) => `“${name}”`).join(', ')} {ending.length === 1 ? 'expires' : 'expire'} within 7 days.
          Rotate and deploy the new key.
        </Alert>
      )}
      <PagedList
        label="Keys"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No keys">Servers use secret keys, apps use public keys.</EmptyState>}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'Type', show: ({ kind }) => kind },
          { name: 'Prefix', show: ({ prefix }) => <code>{prefix}…</code> },
          { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
          { name: 'Last used', show: ({ last_used_at }) => <When at={last_used_at} /> },
          { name: 'Expires', show: (key) => <Expiry at={key.expires_at} /> },
          {
            name: 'Actions',
            show: (key) => (
              <Group gap="xs" wrap="nowrap">
                {!hasExpired(key.expires_at) && <RotateKey of={key} done={changed} />}
                <ConfirmButton
                  label="Revoke"
                  question={`Requests using “${key.name}” will be rejected immediately.`}
                  act={() => project(projectId, 'DELETE', `/keys/${key.id}`).then(changed)}
                />
              </Group>
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
      label="Create key"
      what="key"
      warning="This is the only time the key is shown. Store it securely."
      create={(form) =>
        project<{ key: string }>(projectId, 'POST', '/keys', {
          body: { kind: form.get('kind'), name: form.get('name'), ...expiryOf(form) }
        })
      }
      secretOf={({ key }) => key}
      done={done}
      fields={(problem) => (
        <>
          <TextInput
            name="name"
            label="Name"
            description="The server or app that uses it."
            error={problem('name')}
            required
            data-autofocus
          />
          <Select
            name="kind"
            label="Type"
            defaultValue="secret"
            allowDeselect={false}
            data={[
              { value: 'secret', label: 'Secret: for servers' },
              { value: 'public', label: 'Public: for apps and browsers' }
            ]}
          />
          <ExpirySelect label="Expires" error={problem('expires_at')} />
        </>
      )}
    />
  )
}

const dayMs = 86_400_000

const hasExpired = (at: string | null) => at !== null && Date.parse(at) <= Date.now()
const endsSoon = ({ expires_at: at }: Key) => at !== null && !hasExpired(at) && Date.parse(at) - Date.now() < 7 * dayMs

/** By a rotation: a younger key of the same kind and name that lasts. */
const isReplaced = (old: Key, keys: Key[]) =>
  keys.some(
    (key) =>
      key.kind === old.kind &&
      key.name === old.name &&
      key.created_at > old.created_at &&
      !endsSoon(key) &&
      !hasExpired(key.expires_at)
  )

const Expiry = ({ at }: { at: string | null }) =>
  at === null ? (
    <span>never</span>
  ) : hasExpired(at) ? (
    <Badge color="gray" variant="light" title={at}>
      expired
    </Badge>
  ) : (
    <When at={at} />
  )

const ExpirySelect = ({ label, error }: { label: string; error: string | undefined }) => (
  <Select
    name="days"
    label={label}
    defaultValue=""
    allowDeselect={false}
    error={error}
    data={[
      { value: '', label: 'Never' },
      { value: '30', label: 'In 30 days' },
      { value: '90', label: 'In 90 days' },
      { value: '365', label: 'In a year' }
    ]}
  />
)

function expiryOf(form: FormData): { expires_at?: string } {
  const days = Number(form.get('days'))
  return days > 0 ? { expires_at: new Date(Date.now() + days * dayMs).toISOString() } : {}
}

const RotateKey = ({ of: { id, name }, done }: { of: Key; done: () => unknown }) => {
  const projectId = useProjectId()
  return (
    <CreateSecret
      label="Rotate"
      submit="Rotate"
      small
      what="key"
      warning="This is the only time the new key is shown. Store it securely."
      create={(form) =>
        project<{ key: string }>(projectId, 'POST', `/keys/${id}:rotate`, {
          body: { overlap: form.get('overlap'), ...expiryOf(form) }
        })
      }
      secretOf={({ key }) => key}
      done={done}
      fields={(problem) => (
        <>
          <Text size="sm">Creates a key with the same type and name as “{name}”.</Text>
          <Select
            name="overlap"
            label="Keep the old key valid for"
            defaultValue="24h"
            allowDeselect={false}
            error={problem('overlap')}
            data={[
              { value: '0s', label: 'Revoke it immediately' },
              { value: '1h', label: '1 hour' },
              { value: '24h', label: '24 hours' },
              { value: '7d', label: '7 days' },
              { value: '30d', label: '30 days' }
            ]}
          />
          <ExpirySelect label="New key expires" error={problem('expires_at')} />
        </>
      )}
    />
  )
}

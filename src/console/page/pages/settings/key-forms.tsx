import { Select, Text, TextInput } from '@mantine/core'
import type { CreatedKey, Key, RotatedKey } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'

export function CreateKey({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  return (
    <CreateSecret
      label="Create key"
      what="key"
      warning="This is the only time the key is shown. Store it securely."
      initialValues={{ name: '', kind: 'secret', expires_at: '' }}
      create={({ expires_at, ...values }) =>
        project<CreatedKey>(projectId, 'POST', '/keys', { body: { ...values, ...expiryIn(expires_at) } })
      }
      secretOf={({ key }) => key}
      done={done}
      fields={(form) => (
        <>
          <TextInput
            {...form.getInputProps('name')}
            label="Name"
            description="The server or app that uses it."
            required
            data-autofocus
          />
          <Select
            {...form.getInputProps('kind')}
            label="Type"
            allowDeselect={false}
            data={[
              { value: 'secret', label: 'Secret: for servers' },
              { value: 'public', label: 'Public: for apps and browsers' }
            ]}
          />
          <Select {...form.getInputProps('expires_at')} label="Expires" allowDeselect={false} data={lifetimes} />
        </>
      )}
    />
  )
}

export function RotateKey({ of: { id, name }, done }: { of: Key; done: () => unknown }) {
  const projectId = useProjectId()
  return (
    <CreateSecret
      label="Rotate"
      submit="Rotate"
      small
      what="key"
      warning="This is the only time the new key is shown. Store it securely."
      initialValues={{ overlap: '24h', expires_at: '' }}
      create={({ overlap, expires_at }) =>
        project<RotatedKey>(projectId, 'POST', `/keys/${id}:rotate`, { body: { overlap, ...expiryIn(expires_at) } })
      }
      secretOf={({ key }) => key}
      done={done}
      fields={(form) => (
        <>
          <Text size="sm">Creates a key with the same type and name as “{name}”.</Text>
          <Select
            {...form.getInputProps('overlap')}
            label="Keep the old key valid for"
            allowDeselect={false}
            data={overlaps}
          />
          <Select
            {...form.getInputProps('expires_at')}
            label="New key expires"
            allowDeselect={false}
            data={lifetimes}
          />
        </>
      )}
    />
  )
}

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' }
]

export const overlaps = [
  { value: '0s', label: 'Revoke it immediately' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' }
]

const dayMs = 86_400_000

const expiryIn = (days: string): { expires_at?: string } =>
  days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }

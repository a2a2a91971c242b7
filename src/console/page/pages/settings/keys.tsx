import { Alert, Badge, Group, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Key } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { IdentityVerification } from './identity.tsx'
import { IntakeOfSdks } from './intake.tsx'
import { CreateKey, RotateKey } from './key-forms.tsx'
import { PolicyButton } from './policy-form.tsx'

export function Keys() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/keys'] })
  const pages = usePagedList<Key>('/keys')
  const keys = pages.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Stack>
      <CreateKey done={changed} />
      <ExpiryWarning keys={keys.filter((key) => expiresSoon(key) && !isReplaced(key, keys))} />
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
          { name: 'Expires', show: ({ expires_at }) => <Expiry at={expires_at} /> },
          {
            name: 'Actions',
            show: (key) => (
              <Group gap="xs" wrap="nowrap">
                {key.kind === 'secret' && <PolicyButton of={key} done={changed} />}
                {!hasExpired(key.expires_at) && <RotateKey of={key} done={changed} />}
                <ConfirmButton
                  label="Revoke"
                  title="Revoke key?"
                  question={`Requests using “${key.name}” will be rejected immediately.`}
                  act={() => project(projectId, 'DELETE', `/keys/${key.id}`).then(changed)}
                />
              </Group>
            )
          }
        ]}
      />
      <IdentityVerification />
      <IntakeOfSdks />
    </Stack>
  )
}

const ExpiryWarning = ({ keys }: { keys: Key[] }) =>
  keys.length === 0 ? null : (
    <Alert color="orange" role="status">
      {keys.map(({ name }) => `“${name}”`).join(', ')} {keys.length === 1 ? 'expires' : 'expire'} within 7 days. Rotate
      and deploy the new key.
    </Alert>
  )

const weekMs = 7 * 86_400_000

const hasExpired = (at: string | null) => at !== null && Date.parse(at) <= Date.now()
const expiresSoon = ({ expires_at: at }: Key) => at !== null && !hasExpired(at) && Date.parse(at) - Date.now() < weekMs

/** A rotation leaves a younger key of the same kind and name that lasts. */
const isReplaced = (old: Key, keys: Key[]) =>
  keys.some(
    (key) =>
      key.kind === old.kind &&
      key.name === old.name &&
      key.created_at > old.created_at &&
      !expiresSoon(key) &&
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

import { NativeSelect, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Member } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { toast } from '../../parts/toasts.tsx'

export const roles = [
  { value: 'viewer', label: 'Viewer' },
  { value: 'editor', label: 'Editor' },
  { value: 'admin', label: 'Admin' }
]
const labelOf = (role: string) => roles.find(({ value }) => value === role)!.label

/** The role of a row, which counts as soon as it is chosen. A role of the identity provider cannot be changed here. */
export function RoleSelect({ member, changed }: { member: Member; changed: () => unknown }) {
  const { id, name, email, role, project_id, source } = member
  const who = name || email
  const change = (to: string) => manage('PATCH', `/members/${id}`, { body: { role: to, project_id } }).then(changed)
  const changing = useMutation({
    mutationFn: change,
    onSuccess: (_, to) => toast(`${who} is now ${labelOf(to).toLowerCase()}`, { undo: () => change(role) }),
    onError: (error) => toast(error.message)
  })
  if (source === 'oidc')
    return (
      <Text size="sm" title="Read from the identity provider at each sign-in">
        {labelOf(role)} · by group
      </Text>
    )
  return (
    <NativeSelect
      aria-label={`Role of ${who}`}
      size="xs"
      w={110}
      data={roles}
      value={changing.isPending ? changing.variables : role}
      disabled={changing.isPending}
      onChange={({ currentTarget }) => changing.mutate(currentTarget.value)}
    />
  )
}

import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Account } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'

export function ProfileForm({ account }: { account: Account }) {
  const queries = useQueryClient()
  const renew = () =>
    queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => name === 'account' || name === 'identity' })
  const rename = (name: string) => manage('PATCH', '/account', { body: { name } }).then(renew)
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { name: account.name },
    send: ({ name }) => rename(name),
    onSuccess: () =>
      toast('Name saved', {
        undo: async () => {
          await rename(account.name)
          form.setFieldValue('name', account.name)
        }
      })
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <TextInput {...form.getInputProps('name')} label="Name" autoComplete="name" required dir="auto" />
        {account.email && (
          <TextInput label="Email" value={account.email} readOnly description="Your invitation decides about it." />
        )}
        {sending.error && !form.errors.name && <ErrorAlert error={sending.error} />}
        <Group>
          <Button type="submit" loading={sending.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

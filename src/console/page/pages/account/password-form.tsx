import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Account } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useWays } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'

export function PasswordForm({ account: { email, has_password } }: { account: Account }) {
  const queries = useQueryClient()
  const ways = useWays()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { current: '', password: '' },
    send: ({ current, password }) =>
      manage('PUT', '/account/password', { body: { password, ...(has_password && { current }) } }),
    onSuccess: () => {
      form.reset()
      toast(`Password ${has_password ? 'changed' : 'set'}. Your other sessions have ended.`)
      return queries.invalidateQueries({
        predicate: ({ queryKey: [name] }) => name === 'account' || name === 'sessions'
      })
    }
  })
  if (!ways?.password) return <Text size="sm">Sign-in by password is switched off for this installation.</Text>
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {/* For password managers, which store the password with it. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        {has_password ? (
          <PasswordInput
            {...form.getInputProps('current')}
            label="Current password"
            autoComplete="current-password"
            required
          />
        ) : (
          <Text size="sm">You have no password yet.</Text>
        )}
        <PasswordInput
          {...form.getInputProps('password')}
          label="New password"
          autoComplete="new-password"
          description="At least 12 characters. Your other sessions end."
          required
        />
        {sending.error && !form.errors.current && !form.errors.password && <ErrorAlert error={sending.error} />}
        <Group>
          <Button type="submit" loading={sending.isPending}>
            {has_password ? 'Change password' : 'Set password'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { signIn } from '../../api/people.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import type { Done } from './done.ts'
import { useSignInForm } from './sign-in-form.ts'

export function PasswordForm({ done }: { done: Done }) {
  const { form, sending, onSubmit } = useSignInForm({
    initialValues: { email: '', password: '' },
    send: signIn,
    onSuccess: done
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <TextInput
          {...form.getInputProps('email')}
          label="Email"
          type="email"
          autoComplete="username webauthn"
          required
          autoFocus
        />
        <PasswordInput {...form.getInputProps('password')} label="Password" autoComplete="current-password" required />
        {sending.error && <ErrorAlert error={sending.error} />}
        <Button type="submit" loading={sending.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

import { Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PersonalLink } from '../../../../wire.ts'
import { acceptLink, linkPasskeyOptions, readLink } from '../../api/people.ts'
import { useIdentity, useWays } from '../../api/session.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { AccountForm } from './account-form.tsx'
import { Card } from './card.tsx'
import type { Done } from './done.ts'

/** The page of an invitation, or of a link that sets a new password. */
export function LinkPage({ code, done, leave }: { code: string; done: Done; leave: () => void }) {
  const link = useQuery({ queryKey: ['link'], queryFn: () => readLink(code), retry: false, staleTime: Infinity })
  if (link.error)
    return (
      <Card title="This link does not work">
        <ErrorAlert error={link.error} />
        <Button variant="default" onClick={leave}>
          Go to sign-in
        </Button>
      </Card>
    )
  if (!link.data) return <Loading label="Reading the link" />
  const { kind, email, joined } = link.data
  if (kind === 'reset')
    return (
      <Card title="Choose how you sign in" about={`A new password or passkey for ${email}. Your other sessions end.`}>
        <AccountForm
          asks={[]}
          label="Save and sign in"
          send={(account) => acceptLink(code, account)}
          passkeyOptions={(account) => linkPasskeyOptions(code, account)}
          done={done}
        />
      </Card>
    )
  return (
    <Card title={joined ? 'Accept the invitation' : 'Create your account'} about={invitationText(link.data)}>
      {joined ? (
        <AcceptAsMember code={code} email={email} done={done} />
      ) : (
        <AccountForm
          asks={['name']}
          initial={{ email }}
          label="Create account"
          send={(account) => acceptLink(code, account)}
          passkeyOptions={(account) => linkPasskeyOptions(code, account)}
          done={done}
        />
      )}
    </Card>
  )
}

const invitationText = ({ email, role, project }: PersonalLink) =>
  `${email} is invited as ${role} of ${project ? project.name || project.id : 'all projects'}.`

/** A person who has an account accepts with its session, or with its password. */
function AcceptAsMember({ code, email, done }: { code: string; email: string; done: Done }) {
  const { data: identity } = useIdentity()
  const ways = useWays()
  const [password, setPassword] = useState('')
  const own = identity?.member?.email === email
  const accepting = useMutation({
    mutationFn: () => acceptLink(code, { name: '', email, ...(!own && { password }) }),
    onSuccess: done
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        accepting.mutate()
      }}
    >
      <Stack>
        {!own && ways?.password && (
          <PasswordInput
            label={`Password of ${email}`}
            autoComplete="current-password"
            required
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        )}
        {accepting.error && <ErrorAlert error={accepting.error} />}
        <Button type="submit" loading={accepting.isPending}>
          Accept
        </Button>
      </Stack>
    </form>
  )
}

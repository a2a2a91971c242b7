import { Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Account } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { firstPasskeyOptions, makeFirstMember } from '../../api/people.ts'
import { type Identity, useIdentity } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { DocsLink } from '../../parts/texts.tsx'
import { AccountForm } from '../../shell/sign-in/account-form.tsx'
import { Passkeys } from './passkeys.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { Sessions } from './sessions.tsx'

/** What a member decides about itself: name, ways to sign in, and signed-in browsers. */
export function AccountPage() {
  const { data: identity } = useIdentity()
  return (
    <PageLayout
      title={identity?.member ? 'My account' : 'Account'}
      about={
        <>
          Your name, how you sign in, and where you are signed in. <DocsLink to="guides/people" />
        </>
      }
    >
      {identity?.member ? <OwnAccount /> : identity?.first_member ? <CreateAccount /> : <TokenAccount />}
    </PageLayout>
  )
}

function OwnAccount() {
  const account = useQuery({ queryKey: ['account'], queryFn: () => manage<Account>('GET', '/account') })
  return (
    <Loaded query={account}>
      {(known) => (
        <Stack maw={760}>
          <Panel title="Profile">
            <ProfileForm account={known} />
          </Panel>
          {known.provider ? (
            <Panel title="Sign-in">
              You sign in with {known.provider}. Your groups there decide about your roles here, at each sign-in.
            </Panel>
          ) : (
            <>
              <Panel title="Passkeys">
                <Passkeys />
              </Panel>
              <Panel title="Password">
                <PasswordForm account={known} />
              </Panel>
            </>
          )}
          <Panel title="Sessions">
            <Sessions />
          </Panel>
        </Stack>
      )}
    </Loaded>
  )
}

/** For a person who has skipped it after the first start. */
function CreateAccount() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const done = (identity: Identity) => {
    queries.setQueryData(['identity'], identity)
    void navigate({ to: '/account' })
  }
  return (
    <Panel title="Create your account">
      <Stack maw={420}>
        <AccountForm
          asks={['name', 'email']}
          label="Create account"
          send={makeFirstMember}
          passkeyOptions={firstPasskeyOptions}
          done={done}
        />
      </Stack>
    </Panel>
  )
}

const TokenAccount = () => (
  <Stack>
    <EmptyState title="You are signed in with a management token">
      Tokens are for programs. Ask an admin to invite you, so that the audit log shows your name.
    </EmptyState>
    <Panel title="Sessions of this token">
      <Sessions />
    </Panel>
  </Stack>
)

import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import type { InvitedMember, Member, ResetLink } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { ErrorAlert } from '../../parts/states.tsx'
import { CopyBlock } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'
import { Sessions } from '../account/sessions.tsx'

export function MemberActions({ member, changed }: { member: Member; changed: () => unknown }) {
  const { id, name, email, role, project_id, state, source } = member
  const who = name || email
  const remove = async () => {
    await manage('DELETE', `/members/${id}`, {
      query: project_id === null ? { installation: 'true' } : { project_id }
    })
    toast(state === 'invited' ? 'Invitation withdrawn' : `${who} removed`)
    await changed()
  }
  const renew = () =>
    manage<InvitedMember>('POST', '/members', { body: { email, role, project_id } }).then(({ invitation }) => {
      void changed()
      return invitation
    })
  const reset = () => manage<ResetLink>('POST', `/members/${id}:reset`)
  return (
    <Group gap="xs" wrap="nowrap">
      {state === 'invited' && (
        <LinkButton
          label="New link"
          name={`New link for ${who}`}
          about="It replaces the earlier link, works once, for 7 days, and is shown only now."
          make={renew}
        />
      )}
      {state === 'active' && source !== 'oidc' && (
        <LinkButton
          label="Reset link"
          name={`Reset link for ${who}`}
          about="With this link the person chooses a new password. It works once, for 24 hours, and is shown only now."
          make={reset}
        />
      )}
      {state === 'active' && <SessionsButton id={id} who={who} />}
      <ConfirmButton
        label={state === 'invited' ? 'Withdraw' : 'Remove'}
        title={state === 'invited' ? 'Withdraw invitation?' : `Remove ${who}?`}
        question={
          state === 'invited'
            ? `The link for ${who} stops working.`
            : `${who} loses this role and is signed out everywhere. ${source === 'oidc' ? 'Remove the group at the identity provider too, or the next sign-in brings the role back.' : ''}`
        }
        act={remove}
      />
    </Group>
  )
}

/** Makes a link at a click and shows it once. */
function LinkButton({
  label,
  name,
  about,
  make
}: {
  label: string
  name: string
  about: string
  make: () => Promise<{ link: string }>
}) {
  const [opened, { open, close }] = useDisclosure()
  const making = useMutation({ mutationFn: make })
  return (
    <>
      <Button
        size="xs"
        variant="light"
        loading={making.isPending}
        onClick={() => {
          open()
          making.mutate()
        }}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={name} centered>
        <Stack>
          {making.error && <ErrorAlert error={making.error} />}
          {making.data && (
            <>
              <Alert color="orange">{about}</Alert>
              <CopyBlock text={making.data.link} label="link" />
            </>
          )}
          <Button onClick={close}>Done</Button>
        </Stack>
      </Modal>
    </>
  )
}

function SessionsButton({ id, who }: { id: string; who: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="xs" variant="light" onClick={open}>
        Sessions
      </Button>
      <Modal opened={opened} onClose={close} title={`Sessions of ${who}`} size="xl" centered>
        {opened && <Sessions memberId={id} />}
      </Modal>
    </>
  )
}

import { Select, TextInput } from '@mantine/core'
import type { InvitedMember } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useProjects } from '../../api/session.ts'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'

const roles = [
  { value: 'viewer', label: 'Viewer: read-only' },
  { value: 'editor', label: 'Editor: can send and edit users and campaigns' },
  { value: 'admin', label: 'Admin: full access, invites others' }
]
const all = ''

/** Invites a person and shows the link, which the service does not send. */
export function InviteButton({ projectId, done }: { projectId: string | undefined; done: () => unknown }) {
  const projects = useProjects()
  return (
    <CreateSecret
      label="Invite"
      what="invitation link"
      warning="Send this link to the person. It works once, for 7 days, and is shown only now."
      initialValues={{ email: '', role: 'editor', access: projectId ?? all }}
      create={({ email, role, access }) =>
        manage<InvitedMember>('POST', '/members', { body: { email, role, project_id: access === all ? null : access } })
      }
      secretOf={({ invitation }) => invitation.link}
      done={done}
      submit="Create invitation link"
      fields={(form) => (
        <>
          <TextInput
            {...form.getInputProps('email')}
            label="Email"
            type="email"
            description="The person signs in with it. The service sends no mail."
            required
            data-autofocus
          />
          <Select {...form.getInputProps('role')} label="Role" allowDeselect={false} data={roles} />
          {projectId === undefined && (
            <Select
              {...form.getInputProps('access')}
              label="Access"
              allowDeselect={false}
              data={[
                { value: all, label: 'All projects' },
                ...(projects.data?.items.map(({ id, name }) => ({ value: id, label: name || id })) ?? [])
              ]}
            />
          )}
        </>
      )}
    />
  )
}

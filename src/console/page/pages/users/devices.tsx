import { Badge } from '@mantine/core'
import type { Device } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

export function Devices({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const pages = usePagedList<Device>('/devices', { project_user_id: userId })
  const remove = async (id: string) => {
    await project(projectId, 'DELETE', `/api/v1/devices/${encodeURIComponent(id)}`)
    await pages.refetch()
  }
  const deletion: Column<Device> = {
    name: 'Actions',
    show: ({ id }) => (
      <ConfirmButton
        label="Delete"
        title={`Delete device ${id}?`}
        question="Deletes the device and its push tokens. The app registers it again on its next start."
        act={() => remove(id)}
      />
    )
  }
  return (
    <PagedList
      label="Devices"
      pages={pages}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No devices">A device appears after the app registers it and this user logs in.</EmptyState>
      }
      columns={canEdit ? [...columns, deletion] : columns}
    />
  )
}

const columns: Column<Device>[] = [
  { name: 'ID', show: ({ id }) => id },
  { name: 'Platform', show: ({ platform }) => platform },
  { name: 'Push', show: (device) => <PushBadge {...device} /> },
  { name: 'Last seen', show: ({ last_seen_at }) => <When at={last_seen_at} /> }
]

const PushBadge = ({ push, is_push_permission_granted: granted }: Device) => (
  <Badge color={push && granted && !push.turned_off_reason ? 'teal' : 'gray'} variant="light">
    {!granted ? 'push disabled' : push ? (push.turned_off_reason ?? push.type) : 'no push token'}
  </Badge>
)

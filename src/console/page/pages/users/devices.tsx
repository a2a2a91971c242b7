import { Badge, Text } from '@mantine/core'
import type { Device } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'

export function Devices({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const pages = usePagedList<Device>('/devices', { project_user_id: userId })
  const remove = async (id: string) => {
    await project(projectId, 'DELETE', `/api/v1/devices/${encodeURIComponent(id)}`)
    toast('Deleted the device')
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

const platforms: Record<string, string> = { IOS: 'iOS', ANDROID: 'Android', WEB: 'Browser' }

const columns: Column<Device>[] = [
  { name: 'ID', show: ({ id }) => <Clip>{id}</Clip> },
  { name: 'Platform', show: ({ platform }) => platforms[platform] ?? platform },
  { name: 'App', show: (device) => [device.model, device.app_version].filter(Boolean).join(' · ') || '–' },
  { name: 'Push', show: (device) => <PushState {...device} />, width: 240 },
  { name: 'Last seen', show: ({ last_seen_at }) => <When at={last_seen_at} /> }
]

/** Why a gateway has refused the token of a device, in words. */
const refusedTokens: Record<string, string> = {
  TOKEN_INVALID: 'Push token invalid',
  TOKEN_UNREGISTERED: 'App removed or token replaced',
  TOKEN_MISMATCH: 'Push token of another app'
}

/** Whether a push can reach the device, or why not. */
function stateOf({ push, is_push_permission_granted: granted }: Device): string {
  if (!granted) return 'Permission denied'
  if (!push) return 'No push token'
  if (push.turned_off_reason) return refusedTokens[push.turned_off_reason] ?? push.turned_off_reason
  return 'Can receive pushes'
}

const PushState = (device: Device) => {
  const { push, is_push_permission_granted: granted } = device
  const reachable = push && granted && !push.turned_off_reason
  return (
    <>
      <Badge color={reachable ? 'teal' : 'orange'} variant="light" tt="none">
        {stateOf(device)}
      </Badge>
      {push && (
        <Text size="xs" c="dimmed">
          {push.type} · {push.token_prefix}…
        </Text>
      )}
    </>
  )
}

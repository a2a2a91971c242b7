import { Anchor, Button, Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { User as UserItem } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { toast } from '../../parts/toasts.tsx'
import { MessageList } from '../messages/message-list.tsx'
import { EraseUser } from '../privacy/erase-user.tsx'
import { Activity } from './activity.tsx'
import { Devices } from './devices.tsx'
import { Events } from './events.tsx'
import { Journeys } from './journeys.tsx'
import { Preferences } from './preferences.tsx'
import { Properties } from './properties.tsx'
import { userKey } from './property-change.ts'

export function User() {
  const projectId = useProjectId()
  const { userId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const canEdit = useHasRole('editor')
  const isAdmin = useHasRole('admin')
  const path = `/users/${encodeURIComponent(userId)}`
  const queryKey = userKey(projectId, userId)
  // null: the user was here and is deleted.
  const user = useQuery<UserItem | null>({
    queryKey,
    queryFn: () => project<UserItem>(projectId, 'GET', path),
    meta: { kinds: ['users'] }
  })
  const forget = () => void queries.setQueryData(queryKey, null)
  const remove = async () => {
    await project(projectId, 'DELETE', `/api/v1${path}`)
    forget()
    await queries.invalidateQueries({ queryKey: ['list', projectId, '/users'] })
    toast(`Deleted ${userId}`)
    void navigate({ to: pageLink(projectId, 'users') })
  }
  const missing = user.error instanceof ApiError && user.error.status === 404
  const deleted = user.data === null || (user.data !== undefined && missing)
  return (
    <PageLayout
      title={userId}
      about="Properties, devices, activity, preferences and messages."
      actions={
        canEdit &&
        user.data &&
        !deleted && (
          <Group gap="xs">
            {isAdmin && (
              <Button
                component="a"
                variant="default"
                href={`/manage/v1/projects/${encodeURIComponent(projectId)}${path}/export`}
                download={`${userId}.json`}
              >
                Export data
              </Button>
            )}
            {isAdmin && <EraseUser label="Erase with receipt" userId={userId} done={forget} />}
            <ConfirmButton
              label="Delete user"
              question="Permanently deletes the user with all properties, devices, events and messages. Copies in stored responses, webhook deliveries and tasks of agents remain until their time is over; “Erase with receipt” removes them too."
              type={userId}
              act={remove}
            />
          </Group>
        )
      }
    >
      {deleted ? (
        <EmptyState title="This user was deleted">
          Its properties, devices, events and messages are gone.{' '}
          <Anchor component={Link} to={pageLink(projectId, 'users')}>
            All users
          </Anchor>
        </EmptyState>
      ) : (
        <Loaded query={user}>
          {(found) => (
            <PageTabs
              tabs={[
                ['properties', 'Properties', <Properties key={`properties ${found!.id}`} user={found!} />],
                ['devices', 'Devices', <Devices key="devices" userId={userId} />],
                ['activity', 'Activity', <Activity key="activity" userId={userId} />],
                ['events', 'Events', <Events key="events" userId={userId} />],
                ['journeys', 'Journeys', <Journeys key="journeys" userId={userId} />],
                ['preferences', 'Preferences', <Preferences key="preferences" userId={userId} />],
                ['messages', 'Messages', <MessageList key="messages" query={{ project_user_id: userId }} />]
              ]}
            />
          )}
        </Loaded>
      )}
    </PageLayout>
  )
}

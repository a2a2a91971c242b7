import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { User as UserItem } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Loaded } from '../../parts/states.tsx'
import { MessageList } from '../messages/message-list.tsx'
import { Devices } from './devices.tsx'
import { Events } from './events.tsx'
import { Journeys } from './journeys.tsx'
import { Preferences } from './preferences.tsx'
import { Properties } from './properties.tsx'

export function User() {
  const projectId = useProjectId()
  const { userId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const canEdit = useHasRole('editor')
  const path = `/users/${encodeURIComponent(userId)}`
  const user = useQuery({
    queryKey: ['user', projectId, userId],
    queryFn: () => project<UserItem>(projectId, 'GET', path)
  })
  const remove = async () => {
    await project(projectId, 'DELETE', `/api/v1${path}`)
    void navigate({ to: pageLink(projectId, 'users') })
  }
  return (
    <PageLayout
      title={userId}
      about="Properties, devices, events, preferences and messages."
      actions={
        canEdit &&
        user.data && (
          <ConfirmButton
            label="Delete user"
            question="Permanently deletes the user with all properties, devices, events and messages."
            type={userId}
            act={remove}
          />
        )
      }
    >
      <Loaded query={user}>
        {(found) => (
          <PageTabs
            tabs={[
              ['properties', 'Properties', <Properties key={`properties ${found.id}`} user={found} />],
              ['devices', 'Devices', <Devices key="devices" userId={userId} />],
              ['events', 'Events', <Events key="events" userId={userId} />],
              ['journeys', 'Journeys', <Journeys key="journeys" userId={userId} />],
              ['preferences', 'Preferences', <Preferences key="preferences" userId={userId} />],
              ['messages', 'Messages', <MessageList key="messages" query={{ project_user_id: userId }} />]
            ]}
          />
        )}
      </Loaded>
    </PageLayout>
  )
}

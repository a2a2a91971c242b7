import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Campaign } from '../../../../wire.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { pageLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { draftOf } from './draft.ts'
import { useReplace } from './editor/save-campaign.ts'

type Status = Campaign['status']

/** The changes of status that are offered beside the editor, which activates drafts. */
const changes: Record<Status, [to: Status, label: string, said: string][]> = {
  draft: [['archived', 'Archive', 'Archived']],
  active: [
    ['paused', 'Pause', 'Paused'],
    ['archived', 'Archive', 'Archived']
  ],
  paused: [
    ['active', 'Resume', 'Activated'],
    ['draft', 'Back to draft', 'Made a draft'],
    ['archived', 'Archive', 'Archived']
  ],
  archived: [['paused', 'Restore', 'Restored, and paused']]
}

/** Duplicates, pauses, archives and restores the saved campaign. */
export function CampaignActions({ campaign }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const replace = useReplace(campaign)
  if (!canEdit) return null
  return (
    <>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          component={Link}
          to={pageLink(projectId, 'new-campaign')}
          search={{ from: campaign.campaign_id } as never}
        >
          Duplicate
        </Button>
        {changes[campaign.status].map(([status, label, said]) => (
          <Button
            key={status}
            variant="default"
            size="xs"
            loading={replace.isPending && replace.variables?.draft.status === status}
            onClick={() =>
              replace.mutate({
                draft: { ...draftOf(campaign), status },
                said: (version) => `${said} as version ${version}.`
              })
            }
          >
            {label}
          </Button>
        ))}
      </Group>
      {replace.error && <ErrorAlert error={replace.error} />}
    </>
  )
}

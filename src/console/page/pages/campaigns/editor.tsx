import { Alert, Button, Grid, Group, Select, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { project } from '../../api/client.ts'
import { ApiError, conflictError, fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { campaignLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import type { Campaign, StoredCampaign } from './campaigns.tsx'
import { Content } from './content.tsx'
import { DefaultAudience } from './default-audience.tsx'
import { Limits } from './limits.tsx'
import { CampaignPreview, usePreview } from './preview.tsx'
import { SegmentBuilder } from './segment/builder.tsx'

/** Only what the file of a campaign holds; what the service added is not sent back. */
export function fileOf(known: Campaign): Campaign {
  const { version: _v, created_at: _c, updated_at: _u, warnings: _w, ...file } = known as StoredCampaign
  delete (file as { result?: string }).result
  return file
}

function kept(draft: string): Campaign | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(draft) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export function CampaignEditor({ known }: { known: Campaign | StoredCampaign }) {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const version = 'version' in known ? known.version : undefined
  const draft = `tidings-draft ${projectId} ${version === undefined ? 'new' : `${known.campaign_id} ${version}`}`
  const [wish, setWish] = useState(() => kept(draft) ?? fileOf(known))
  // Fields that keep a text of their own begin anew when it is taken back.
  const [round, setRound] = useState(0)
  const body = tidy(wish)
  const changed = JSON.stringify(body) !== JSON.stringify(tidy(fileOf(known)))
  const preview = usePreview(body)
  // A reload loses nothing that was typed.
  useEffect(() => {
    if (changed && may) sessionStorage.setItem(draft, JSON.stringify(wish))
    else sessionStorage.removeItem(draft)
  }, [draft, wish, changed, may])
  const save = useMutation({
    mutationFn: () => {
      return version === undefined
        ? project<StoredCampaign>(projectId, 'POST', '/campaigns', { body })
        : project<StoredCampaign>(projectId, 'PUT', `/campaigns/${encodeURIComponent(wish.campaign_id!)}`, {
            body,
            headers: { 'if-match': `"${version}"` }
          })
    },
    onSuccess: (saved) => {
      sessionStorage.removeItem(draft)
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/campaigns'] })
      queries.setQueryData(['campaign', projectId, saved.campaign_id], saved)
      if (version === undefined) void navigate({ to: campaignLink(projectId, saved.campaign_id) })
    }
  })
  const change = (more: Partial<Campaign>) => setWish((now) => ({ ...now, ...more }))
  // What the preview finds wrong is said while it is typed; a name that is still missing only when it is saved.
  const problem = (path: string, only?: boolean) =>
    fieldError(save.error, path, only) ??
    (changed && path !== 'name' ? fieldError(preview.error, path, only) : undefined)
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Stack>
          <Group grow align="start">
            <TextInput
              label="Name"
              required
              value={wish.name}
              error={problem('name')}
              readOnly={!may}
              onChange={({ currentTarget }) => change({ name: currentTarget.value })}
            />
            <TextInput
              label="ID"
              description={version === undefined ? 'Leave blank to generate.' : 'Can’t be changed.'}
              value={wish.campaign_id ?? ''}
              error={problem('campaign_id') ?? (version === undefined ? conflictError(save.error) : undefined)}
              readOnly={!may || version !== undefined}
              onChange={({ currentTarget }) => change({ campaign_id: currentTarget.value })}
            />
          </Group>
          <Group grow align="start">
            <Select
              label="Status"
              description="Only active campaigns can be triggered."
              allowDeselect={false}
              data={['draft', 'active', 'paused', 'archived']}
              value={wish.status}
              disabled={!may}
              onChange={(status) => status && change({ status: status as Campaign['status'] })}
            />
            <Select
              label="Trigger type"
              allowDeselect={false}
              data={[
                { value: 'api_triggered', label: 'API' },
                { value: 'scheduled', label: 'Scheduled (saved, does not run yet)' },
                { value: 'event_triggered', label: 'Event (saved, does not run yet)' }
              ]}
              value={wish.type}
              disabled={!may}
              onChange={(type) => type && change({ type: type as Campaign['type'] })}
            />
          </Group>
          <Title order={2} size="h4">
            Message
          </Title>
          <Content key={round} wish={wish} change={change} may={may} problem={problem} />
          <Title order={2} size="h4">
            Audience
          </Title>
          <SegmentBuilder
            segment={wish.segment}
            change={(segment) => change({ segment })}
            readOnly={!may}
            problem={problem}
          />
          <DefaultAudience
            audience={wish.default_audience}
            set={(default_audience) => change({ default_audience })}
            may={may}
            problem={problem}
          />
          <Limits wish={wish} change={change} may={may} problem={problem} />
          {save.error && <ErrorAlert error={save.error} />}
          {version !== undefined && save.error instanceof ApiError && save.error.status === 409 && (
            <Alert color="orange">Someone else saved changes. Reload the page to see them.</Alert>
          )}
          {may && (
            <Group>
              <Button
                onClick={() => save.mutate()}
                loading={save.isPending}
                disabled={version !== undefined && !changed}
              >
                {version === undefined ? 'Create' : 'Save'}
              </Button>
              {changed && version !== undefined && (
                <Button
                  variant="default"
                  onClick={() => {
                    setWish(fileOf(known))
                    setRound(round + 1)
                  }}
                >
                  Discard changes
                </Button>
              )}
            </Group>
          )}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <CampaignPreview preview={preview} campaignId={changed ? undefined : known.campaign_id} />
      </Grid.Col>
    </Grid>
  )
}

const filled = (fields: object | undefined) =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined && value !== ''))
const orNone = (fields: object) => (Object.keys(fields).length > 0 ? fields : undefined)

/** Empty fields are absent ones. */
export function tidy(wish: Campaign): Campaign {
  const message = orNone(filled(wish.message))
  const live_activity = wish.live_activity && {
    ...wish.live_activity,
    alert: orNone(filled(wish.live_activity.alert))
  }
  return filled({ ...wish, message, live_activity: live_activity && filled(live_activity) }) as unknown as Campaign
}

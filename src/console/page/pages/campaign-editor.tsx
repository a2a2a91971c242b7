import {
  Alert,
  Button,
  Grid,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, project } from '../api.ts'
import { SegmentBuilder } from '../parts/segment-builder.tsx'
import { Failed } from '../parts/states.tsx'
import { useMay, useProjectId } from '../who.ts'
import { CampaignPreview } from './campaign-preview.tsx'
import { type Campaign, campaignLink, type StoredCampaign } from './campaigns.tsx'

/** Only what the file of a campaign holds; what the service added is not sent back. */
export function fileOf(known: Campaign): Campaign {
  const { version: _v, created_at: _c, updated_at: _u, warnings: _w, ...file } = known as StoredCampaign
  return file
}

export function CampaignEditor({ known }: { known: Campaign | StoredCampaign }) {
  const projectId = useProjectId()
  const may = useMay('editor')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [wish, setWish] = useState(() => fileOf(known))
  const version = 'version' in known ? known.version : undefined
  const save = useMutation({
    mutationFn: () => {
      const body = tidy(wish)
      return version === undefined
        ? project<StoredCampaign>(projectId, 'POST', '/campaigns', { body })
        : project<StoredCampaign>(projectId, 'PUT', `/campaigns/${encodeURIComponent(wish.campaign_id!)}`, {
            body,
            headers: { 'if-match': `"${version}"` }
          })
    },
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/campaigns'] })
      queries.setQueryData(['campaign', projectId, saved.campaign_id], saved)
      if (version === undefined) void navigate({ to: campaignLink(projectId, saved.campaign_id) })
    }
  })
  const change = (more: Partial<Campaign>) => setWish((now) => ({ ...now, ...more }))
  const problem = (path: string) => problemAt(save.error, path)
  const text = (
    name: 'title' | 'body' | 'image_url' | 'landing_url',
    label: string,
    Field: typeof TextInput | typeof Textarea,
    about?: string
  ) => (
    <Field
      label={label}
      description={about}
      value={wish.message?.[name] ?? ''}
      error={problem(`message.${name}`)}
      readOnly={!may}
      onChange={({ currentTarget }: { currentTarget: { value: string } }) =>
        change({ message: { ...wish.message, [name]: currentTarget.value } })
      }
    />
  )
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
              label="Id"
              description={version === undefined ? 'Chosen by you, or made for you.' : 'It does not change.'}
              value={wish.campaign_id ?? ''}
              error={problem('campaign_id')}
              readOnly={!may || version !== undefined}
              onChange={({ currentTarget }) => change({ campaign_id: currentTarget.value })}
            />
          </Group>
          <Group grow align="start">
            <Select
              label="Status"
              description="Only an active one can be triggered."
              allowDeselect={false}
              data={['draft', 'active', 'paused', 'archived']}
              value={wish.status}
              disabled={!may}
              onChange={(status) => status && change({ status: status as Campaign['status'] })}
            />
            <Select
              label="Set off"
              allowDeselect={false}
              data={[
                { value: 'api_triggered', label: 'by the API' },
                { value: 'scheduled', label: 'on a schedule (kept, does not run yet)' },
                { value: 'event_triggered', label: 'by an event (kept, does not run yet)' }
              ]}
              value={wish.type}
              disabled={!may}
              onChange={(type) => type && change({ type: type as Campaign['type'] })}
            />
          </Group>
          <Title order={2} size="h4">
            Message
          </Title>
          <Text size="sm" c="dimmed">
            Liquid: {'{{ user.name }}'}, {'{{ user.id }}'}, {'{{ trigger.code }}'}, {'{{ device.platform }}'},{' '}
            {'{{ campaign.name }}'}
          </Text>
          {text('title', 'Title', TextInput)}
          {text('body', 'Body', Textarea)}
          {text('image_url', 'Picture', TextInput, 'An address that begins with https:// or http://')}
          {text('landing_url', 'Opens', TextInput, 'An address of a page, or of a place in your app')}
          <Title order={2} size="h4">
            Who may get it
          </Title>
          <SegmentBuilder segment={wish.segment} change={(segment) => change({ segment })} readOnly={!may} />
          {problem('segment') && <Text c="red">{problem('segment')}</Text>}
          <Switch
            label="Without an audience it goes to everyone in the segment"
            checked={wish.default_audience?.broadcast ?? false}
            disabled={!may}
            onChange={({ currentTarget }) => change({ default_audience: { broadcast: currentTarget.checked } })}
          />
          <Limits wish={wish} change={change} may={may} problem={problem} />
          {save.error && <Failed error={save.error} />}
          {save.error instanceof ApiError && save.error.status === 409 && (
            <Alert color="orange">Somebody else has changed it meanwhile. Reload the page to see how.</Alert>
          )}
          {may && (
            <Group>
              <Button onClick={() => save.mutate()} loading={save.isPending}>
                {version === undefined ? 'Create' : 'Save'}
              </Button>
            </Group>
          )}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <CampaignPreview campaign={tidy(wish)} saved={version !== undefined} />
      </Grid.Col>
    </Grid>
  )
}

function Limits({
  wish,
  change,
  may,
  problem
}: {
  wish: Campaign
  change: (more: Partial<Campaign>) => void
  may: boolean
  problem: (path: string) => string | undefined
}) {
  const number = (name: 'ttl_seconds' | 'throttle_per_second', label: string, about: string) => (
    <NumberInput
      label={label}
      description={about}
      value={wish[name] ?? ''}
      error={problem(name)}
      readOnly={!may}
      min={0}
      onChange={(value) => change({ [name]: value === '' ? undefined : Number(value) })}
    />
  )
  const cap = wish.frequency_cap
  const quiet = wish.quiet_hours
  return (
    <>
      <Title order={2} size="h4">
        Limits
      </Title>
      <Group grow align="start">
        {number('ttl_seconds', 'Seconds it is worth sending', 'Later it expires. Empty: four weeks.')}
        {number('throttle_per_second', 'Messages per second', 'Empty: as fast as it goes.')}
      </Group>
      <Group align="end">
        <Switch
          label="At most"
          checked={cap !== undefined}
          disabled={!may}
          onChange={({ currentTarget }) =>
            change({ frequency_cap: currentTarget.checked ? { count: 1, within: '24h' } : undefined })
          }
        />
        {cap && (
          <>
            <NumberInput
              aria-label="Messages of this campaign"
              w={80}
              min={1}
              value={cap.count}
              onChange={(count) => change({ frequency_cap: { ...cap, count: Number(count) } })}
            />
            <Text>within</Text>
            <TextInput
              aria-label="Within"
              w={80}
              value={cap.within}
              error={problem('frequency_cap')}
              onChange={({ currentTarget }) => change({ frequency_cap: { ...cap, within: currentTarget.value } })}
            />
          </>
        )}
      </Group>
      <Group align="end">
        <Switch
          label="Quiet hours"
          checked={quiet !== undefined}
          disabled={!may}
          onChange={({ currentTarget }) =>
            change({
              quiet_hours: currentTarget.checked
                ? { from: '22:00', to: '08:00', timezone: 'user', action: 'hold' }
                : undefined
            })
          }
        />
        {quiet && (
          <>
            <TextInput
              aria-label="From"
              w={80}
              value={quiet.from}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, from: currentTarget.value } })}
            />
            <Text>to</Text>
            <TextInput
              aria-label="To"
              w={80}
              value={quiet.to}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, to: currentTarget.value } })}
            />
            <TextInput
              aria-label="Time zone: user, device or a name such as Europe/Berlin"
              w={150}
              value={quiet.timezone}
              error={problem('quiet_hours')}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, timezone: currentTarget.value } })}
            />
            <Select
              aria-label="Meanwhile"
              w={200}
              allowDeselect={false}
              value={quiet.action}
              data={[
                { value: 'hold', label: 'hold it back' },
                { value: 'skip', label: 'do not send it' }
              ]}
              onChange={(action) => action && change({ quiet_hours: { ...quiet, action: action as 'hold' | 'skip' } })}
            />
          </>
        )}
      </Group>
    </>
  )
}

/** Empty fields are absent ones. */
export function tidy(wish: Campaign): Campaign {
  const message = Object.fromEntries(Object.entries(wish.message ?? {}).filter(([, value]) => value !== ''))
  const given = Object.fromEntries(
    Object.entries({ ...wish, message }).filter(([, value]) => value !== undefined && value !== '')
  )
  if (Object.keys(message).length === 0) delete given.message
  return given as unknown as Campaign
}

/** What the service says about one field, in its own words. */
function problemAt(error: Error | null, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.details.filter(
    (detail) => detail.path === path || detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`)
  )
  return (
    found.map((detail) => (detail.path === path ? detail.message : `${detail.path}: ${detail.message}`)).join(' · ') ||
    undefined
  )
}

import { Alert, Button, Grid, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useRef } from 'react'
import type { Campaign } from '../../../../wire.ts'
import { ApiError, conflictError } from '../../api/errors.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { Conversion } from './conversion.tsx'
import { DefaultAudience } from './default-audience.tsx'
import { type CampaignDraft, triggerTypes } from './draft.ts'
import { EditorProvider, useCampaignEditor, useEditor } from './editor-form.ts'
import { Limits } from './limits.tsx'
import { Content } from './message/content.tsx'
import { TranslatorFiles } from './message/exchange.tsx'
import { Experiment } from './message/experiment.tsx'
import { Winners } from './message/winner.tsx'
import { OnMissing } from './on-missing.tsx'
import { CampaignPreview } from './preview/preview.tsx'
import { SegmentBuilder } from './segment/builder.tsx'
import { Topic } from './topic.tsx'
import { When } from './when/when.tsx'

type Editor = ReturnType<typeof useCampaignEditor>

/** Edits a campaign, or creates one if none is given. */
export function CampaignEditor({ campaign }: { campaign?: Campaign }) {
  const editor = useCampaignEditor(campaign)
  const { form, canEdit, findError, changed, preview, round } = editor
  return (
    <EditorProvider value={{ form, canEdit, findError, nextAt: preview.data?.next_at ?? campaign?.next_at }}>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Identity created={campaign !== undefined} conflict={conflictError(editor.save.error)} />
            {form.values.type !== 'api_triggered' && <Heading text="When" />}
            <When key={`when ${round}`} />
            <Heading text="Message" />
            <Content key={round} />
            {campaign && !campaign.live_activity && <TranslatorFiles campaign={campaign} />}
            <OnMissing />
            <Heading text="Audience" />
            <SegmentBuilder
              segment={form.values.segment}
              change={(segment) => form.setFieldValue('segment', segment)}
              readOnly={!canEdit}
              findError={findError}
            />
            {form.values.type !== 'event_triggered' && <DefaultAudience />}
            <Topic />
            <Heading text="Limits" />
            <Limits />
            <Heading text="Results" />
            <Experiment />
            {campaign && <Winners campaign={campaign} />}
            <Conversion />
            <Actions editor={editor} created={campaign !== undefined} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <CampaignPreview
            preview={preview}
            draft={form.values}
            campaignId={changed ? undefined : campaign?.campaign_id}
          />
        </Grid.Col>
      </Grid>
    </EditorProvider>
  )
}

const Heading = ({ text }: { text: string }) => (
  <Title order={2} size="h4">
    {text}
  </Title>
)

/** Name, ID, status and type. */
function Identity({ created, conflict }: { created: boolean; conflict: string | undefined }) {
  const { form, canEdit, field } = useEditor()
  const id = field('campaign_id')
  return (
    <>
      <Group grow align="start">
        <TextInput {...field('name')} label="Name" required />
        <TextInput
          {...id}
          label="ID"
          description={created ? 'Can’t be changed.' : 'Leave blank to generate.'}
          error={id.error ?? (created ? undefined : conflict)}
          readOnly={!canEdit || created}
        />
      </Group>
      <Group grow align="start">
        <Select
          {...form.getInputProps('status')}
          label="Status"
          description="Only active campaigns run."
          allowDeselect={false}
          data={['draft', 'active', 'paused', 'archived']}
          disabled={!canEdit}
        />
        <TriggerType />
      </Group>
    </>
  )
}

/** What makes the campaign run. The fields of another type would not fit, so they are put aside. */
function TriggerType() {
  const { form, canEdit, findError } = useEditor()
  const aside = useRef<Pick<CampaignDraft, 'schedule' | 'event_trigger'>>({})
  const turn = (type: CampaignDraft['type']) => {
    const { schedule = aside.current.schedule, event_trigger = aside.current.event_trigger } = form.values
    aside.current = { schedule, event_trigger }
    form.setValues({
      type,
      schedule: type === 'scheduled' ? schedule : undefined,
      event_trigger: type === 'event_triggered' ? event_trigger : undefined
    })
  }
  return (
    <Select
      label="Trigger type"
      allowDeselect={false}
      value={form.values.type}
      onChange={(type) => type && turn(type)}
      error={findError('type')}
      data={Object.entries(triggerTypes).map(([value, label]) => ({ value: value as CampaignDraft['type'], label }))}
      disabled={!canEdit}
    />
  )
}

function Actions({ editor: { save, changed, canEdit, discard }, created }: { editor: Editor; created: boolean }) {
  const outdated = created && save.error instanceof ApiError && save.error.status === 409
  return (
    <>
      {save.error && <ErrorAlert error={save.error} />}
      {outdated && <Alert color="orange">Someone else saved changes. Reload the page to see them.</Alert>}
      {canEdit && (
        // The form is long, so its buttons stay in view.
        <Group
          pos="sticky"
          bottom={0}
          py="xs"
          bg="var(--mantine-color-body)"
          style={{ zIndex: 2, borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <Button onClick={() => save.mutate()} loading={save.isPending} disabled={created && !changed}>
            {created ? 'Save' : 'Create'}
          </Button>
          {changed && created && (
            <Button variant="default" onClick={discard}>
              Discard changes
            </Button>
          )}
          {save.error && <Text c="var(--mantine-color-error)">Not saved</Text>}
        </Group>
      )}
    </>
  )
}

import { Radio, Stack } from '@mantine/core'
import { DocsLink } from '../../../parts/texts.tsx'
import { Conversion } from '../conversion.tsx'
import { type CampaignDraft, triggerTypes } from '../draft.ts'
import { useAside, useEditor } from '../editor-form.ts'
import { Limits } from '../limits.tsx'
import { When } from '../when/when.tsx'
import { Section } from './section.tsx'

const abouts: Record<CampaignDraft['type'], string> = {
  api_triggered: 'Your code, an agent or a person triggers it.',
  scheduled: 'Once, or again and again.',
  event_triggered: 'After something that a user does.'
}

/** When the campaign is sent, and how fast. */
export const TimingStep = ({ round }: { round: number }) => (
  <>
    <Section title="Trigger" about={<DocsLink to="guides/campaigns#schedule-it">Schedules and events</DocsLink>}>
      <TriggerType />
      <When key={round} />
    </Section>
    <Section title="Limits">
      <Limits />
    </Section>
    <Section title="Conversions" about={<DocsLink to="guides/results#conversions">How they are counted</DocsLink>}>
      <Conversion />
    </Section>
  </>
)

/** What makes the campaign run. The fields of another type would not fit, so they are put aside. */
function TriggerType() {
  const { form, canEdit, findError } = useEditor()
  const aside = useAside<Pick<CampaignDraft, 'schedule' | 'event_trigger'>>('trigger type', {})
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
    <Radio.Group
      label="Trigger type"
      value={form.values.type}
      onChange={(type) => turn(type as CampaignDraft['type'])}
      error={findError('type')}
    >
      <Stack gap="xs" mt="xs">
        {Object.entries(triggerTypes).map(([type, label]) => (
          <Radio
            key={type}
            value={type}
            label={label}
            description={abouts[type as CampaignDraft['type']]}
            disabled={!canEdit}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

import { NumberInput, Text } from '@mantine/core'
import { useHasRole } from '../../../api/session.ts'
import { DocsLink } from '../../../parts/texts.tsx'
import { DefaultAudience } from '../default-audience.tsx'
import { useEditor } from '../editor-form.ts'
import { AudienceSummary } from '../preview/audience-summary.tsx'
import type { usePreview } from '../preview/preview-query.ts'
import { SegmentBuilder } from '../segment/builder.tsx'
import { Topic } from '../topic.tsx'
import { Section } from './section.tsx'

/** Who gets the campaign. */
export function AudienceStep({ preview }: { preview: ReturnType<typeof usePreview> }) {
  const { form, canEdit, findError, field, set } = useEditor()
  return (
    <>
      <Section title="Conditions" about={<DocsLink to="reference/segments">How conditions work</DocsLink>}>
        <SegmentBuilder
          segment={form.values.segment}
          change={(segment) => form.setFieldValue('segment', segment)}
          readOnly={!canEdit}
          findError={findError}
        />
        <Reach preview={preview} />
      </Section>
      {form.values.type !== 'event_triggered' && (
        <Section title="Recipients">
          <DefaultAudience />
        </Section>
      )}
      <Section title="Preferences and holdout">
        <Topic />
        <NumberInput
          {...field('holdout')}
          label="Holdout (percent)"
          description="Get nothing, so that you can compare. Blank for none"
          min={0}
          max={100}
          maw={280}
          onChange={(percent) => set('holdout', percent === '' ? undefined : Number(percent))}
        />
      </Section>
    </>
  )
}

/** How many users the campaign would reach now. It is counted with the message, which decides who can get it. */
export function Reach({ preview: { data, error } }: { preview: ReturnType<typeof usePreview> }) {
  const canPreview = useHasRole('editor')
  if (data && !error) return <AudienceSummary {...data.audience} />
  if (!canPreview) return null
  return (
    <Text size="sm" c="dimmed">
      {error ? 'Fix the faults to count the audience.' : 'Write a message to count the audience.'}
    </Text>
  )
}

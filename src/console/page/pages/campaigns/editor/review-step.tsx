import { Alert, Anchor, Button, Group, List, Stack, Text } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { useTopics } from '../../../api/topics.ts'
import { When } from '../../../parts/texts.tsx'
import type { CampaignDraft } from '../draft.ts'
import { useEditor } from '../editor-form.ts'
import type { usePreview } from '../preview/preview-query.ts'
import { labelOf } from '../words/fields.ts'
import { limitsInWords, messageInWords, whenInWords, whoInWords } from '../words/review.ts'
import { Reach } from './audience-step.tsx'
import { type Fault, type StepName, stepLabels } from './faults.ts'
import { Section } from './section.tsx'

interface Props {
  draft: CampaignDraft
  campaign: Campaign | undefined
  preview: ReturnType<typeof usePreview>
  faults: Fault[]
  goTo: (fault: { step: StepName | undefined; path?: string }) => void
}

/** What will happen, in sentences, and what still keeps it from happening. */
export function ReviewStep({ draft, campaign, preview, faults, goTo }: Props) {
  const topics = useTopics().data?.items ?? []
  const topic = topics.find((one) => one.topic === draft.topic)?.name ?? draft.topic
  const parts: [title: string, step: StepName, lines: string[]][] = [
    ['Who gets it', 'audience', whoInWords(draft, topic)],
    ['What they get', 'message', messageInWords(draft)],
    ['When', 'timing', whenInWords(draft)],
    ['Limits', 'timing', limitsInWords(draft)]
  ]
  return (
    <Stack gap="lg">
      <Faults draft={draft} faults={faults} goTo={goTo} />
      {campaign?.warnings.map((warning) => (
        <Alert key={warning} color="orange">
          {warningInWords(warning, draft)}
        </Alert>
      ))}
      {parts.map(([title, step, lines]) => (
        <Section
          key={title}
          title={title}
          about={
            <Button variant="subtle" size="compact-sm" aria-label={`Edit: ${title}`} onClick={() => goTo({ step })}>
              Edit
            </Button>
          }
        >
          {lines.length === 0 && <Text c="dimmed">None.</Text>}
          {lines.map((line) => (
            <Text key={line} dir="auto" style={{ overflowWrap: 'anywhere' }}>
              {line}
            </Text>
          ))}
          {title === 'Who gets it' && <Reach preview={preview} />}
          {title === 'When' && <NextTime draft={draft} />}
        </Section>
      ))}
    </Stack>
  )
}

/** Warnings begin with the path of their field. */
const warningInWords = (warning: string, draft: CampaignDraft) =>
  warning.replace(/^[a-z_]+[.[][\w.[\]-]*/, (path) => labelOf(path, draft))

function NextTime({ draft }: { draft: CampaignDraft }) {
  const [next] = useEditor().nextAt ?? []
  if (draft.type !== 'scheduled' || !next) return null
  return <Text>Next time: {next.endsWith('Z') ? <When at={next} /> : next.replace('T', ' ')}.</Text>
}

function Faults({ draft, faults, goTo }: Pick<Props, 'draft' | 'faults' | 'goTo'>) {
  if (faults.length === 0) return null
  return (
    <Alert color="red" title="Fix this before you activate it" role="alert">
      <List size="sm" aria-label="Faults">
        {faults.map((fault) => (
          <List.Item key={fault.path + fault.message}>
            <Group gap={6}>
              <Anchor component="button" type="button" onClick={() => goTo(fault)}>
                {fault.step ? `${stepLabels[fault.step]}: ` : ''}
                {labelOf(fault.path, draft)}
              </Anchor>
              <span>{fault.message}</span>
            </Group>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

import { SegmentedControl, Stack } from '@mantine/core'
import type { CampaignDraft, LiveActivityDraft } from '../draft.ts'
import { useAside, useEditor } from '../editor-form.ts'
import { ActivityFields } from './activity.tsx'
import { Steps } from './steps.tsx'
import { TemplateVariables } from './template-variables.tsx'
import { MessageOrVariants } from './variants.tsx'

type Kind = 'notification' | 'sequence' | 'activity'
type Contents = Pick<CampaignDraft, 'message' | 'variants' | 'steps' | 'exit' | 'live_activity'>

const none: Contents = {
  message: undefined,
  variants: undefined,
  steps: undefined,
  exit: undefined,
  live_activity: undefined
}
const newActivity: LiveActivityDraft = { attributes_type: '', attributes: {}, content_state: {}, alert: {} }

const kindOf = ({ live_activity, steps }: Contents): Kind =>
  live_activity ? 'activity' : steps ? 'sequence' : 'notification'

/** The content of a campaign: a notification, a sequence of them or a Live Activity. */
export function Content() {
  const { form, canEdit } = useEditor()
  const { message, variants, steps, exit, live_activity } = form.values
  const now = { message, variants, steps, exit, live_activity }
  const kind = kindOf(now)
  // Keeps the fields of the other kinds, so that switching back loses nothing.
  const others = useAside<Partial<Record<Kind, Contents>>>('contents', {})
  const initial: Record<Kind, Contents> = {
    notification: { message: message ?? steps?.[0]?.message ?? {} },
    sequence: {
      steps: [variants ? { id: 'step-1', variants } : { id: 'step-1', message: message ?? {} }]
    },
    activity: { live_activity: newActivity }
  }
  const turn = (to: string) => {
    others.current = { ...others.current, [kind]: now }
    form.setValues({ ...none, ...(others.current[to as Kind] ?? initial[to as Kind]) })
  }
  return (
    <Stack>
      <SegmentedControl
        aria-label="Message type"
        w="fit-content"
        maw="100%"
        value={kind}
        onChange={turn}
        disabled={!canEdit}
        data={[
          { value: 'notification', label: 'Notification' },
          { value: 'sequence', label: 'Sequence' },
          { value: 'activity', label: 'Live Activity' }
        ]}
      />
      <TemplateVariables>
        {live_activity ? <ActivityFields /> : steps ? <Steps steps={steps} /> : <MessageOrVariants path="" />}
      </TemplateVariables>
    </Stack>
  )
}

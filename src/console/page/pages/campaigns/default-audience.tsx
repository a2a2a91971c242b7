import { Radio, Stack } from '@mantine/core'
import type { CampaignDraft } from './draft.ts'
import { useEditor } from './editor-form.ts'
import { Targets } from './targets.tsx'

type Audience = CampaignDraft['default_audience']

const kindOf = (audience: Audience) => (audience?.broadcast ? 'everyone' : audience?.targets ? 'targets' : 'none')

const initial: Record<string, Audience> = {
  everyone: { broadcast: true },
  targets: { targets: [] },
  none: undefined
}

/** The audience of triggers that do not name one. */
export function DefaultAudience() {
  const { form, canEdit, findError } = useEditor()
  const audience = form.values.default_audience
  const set = (next: Audience) => form.setFieldValue('default_audience', next)
  return (
    <>
      <Radio.Group
        label="Default audience"
        description={
          form.values.type === 'scheduled'
            ? 'The recipients at each scheduled time.'
            : 'Used when a trigger does not specify an audience.'
        }
        inputWrapperOrder={['label', 'description', 'input', 'error']}
        value={kindOf(audience)}
        onChange={(kind) => set(initial[kind])}
        error={findError('default_audience', kindOf(audience) === 'targets')}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="none"
            label={form.values.type === 'scheduled' ? 'None' : 'None: specify at trigger time'}
            disabled={!canEdit}
          />
          <Radio value="everyone" label="Everyone in the audience" disabled={!canEdit} />
          <Radio value="targets" label="Specific users and devices" disabled={!canEdit} />
        </Stack>
      </Radio.Group>
      {audience && !audience.broadcast && audience.targets && (
        <Targets
          targets={audience.targets}
          set={(targets) => set({ targets })}
          findError={findError}
          path="default_audience.targets"
          readOnly={!canEdit}
        />
      )}
    </>
  )
}

import { Group, NumberInput, Switch, Text, TextInput } from '@mantine/core'
import { QuietHoursFields, usualQuietHours } from '../../parts/forms/quiet-hours-fields.tsx'
import { useEditor } from './editor-form.ts'

/** Time to live, throttle, frequency cap and quiet hours. */
export const Limits = () => (
  <>
    <Group grow align="start">
      <NumberField name="ttl_seconds" label="Time to live (seconds)" description="Default: 4 weeks" />
      <NumberField name="throttle_per_second" label="Messages per second" description="Blank for no limit" />
    </Group>
    <FrequencyCap />
    <QuietHours />
  </>
)

function NumberField({
  name,
  label,
  description
}: {
  name: 'ttl_seconds' | 'throttle_per_second'
  label: string
  description: string
}) {
  const { form, field } = useEditor()
  return (
    <NumberInput
      {...field(name)}
      label={label}
      description={description}
      min={0}
      onChange={(value) => form.setFieldValue(name, value === '' ? undefined : Number(value))}
    />
  )
}

function FrequencyCap() {
  const { form, canEdit, field } = useEditor()
  return (
    <Group align="start">
      <Switch
        mt={8}
        label={form.values.frequency_cap ? 'Limit to' : 'Limit messages per user'}
        checked={form.values.frequency_cap !== undefined}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) =>
          form.setFieldValue('frequency_cap', checked ? { count: 1, within: '24h' } : undefined)
        }
      />
      {form.values.frequency_cap && (
        <>
          <NumberInput
            {...field('frequency_cap.count')}
            aria-label="Messages per user"
            w={110}
            min={1}
            onChange={(count) => form.setFieldValue('frequency_cap.count', Number(count))}
          />
          <Text mt={6}>per user every</Text>
          <TextInput {...field('frequency_cap.within')} aria-label="Period" w={140} />
        </>
      )}
    </Group>
  )
}

function QuietHours() {
  const { form, canEdit, field } = useEditor()
  return (
    <Group align="start">
      <Switch
        mt={8}
        label="Quiet hours"
        checked={form.values.quiet_hours !== undefined}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) =>
          form.setFieldValue('quiet_hours', checked ? { ...usualQuietHours } : undefined)
        }
      />
      {form.values.quiet_hours && (
        <QuietHoursFields field={(name) => field(`quiet_hours.${name}`)} readOnly={!canEdit} />
      )}
    </Group>
  )
}

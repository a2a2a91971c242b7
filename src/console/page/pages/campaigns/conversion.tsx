import { Group, Stack, Switch, TextInput } from '@mantine/core'
import { useEditor } from './editor-form.ts'
import { EventName } from './segment/event-name.tsx'

/** The event that counts as the success of the campaign. */
export function Conversion() {
  const { read, set, field, canEdit } = useEditor()
  const given = read('conversion') !== undefined
  return (
    <Stack>
      <Switch
        label="Count conversions"
        description="How many users do something after the message"
        checked={given}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) =>
          set('conversion', checked ? { event: 'purchase', within: '7d' } : undefined)
        }
      />
      {given && (
        <Group grow align="start">
          <EventName
            {...field('conversion.event')}
            onChange={(event) => set('conversion', { ...read<object>('conversion'), event })}
            label="Conversion event"
          />
          <TextInput {...field('conversion.within')} label="Within" description="After the message: 24h, 7d" />
          <TextInput
            {...field('conversion.value_property')}
            label="Value property"
            description="A number of the event to add up"
            placeholder="amount"
          />
        </Group>
      )}
    </Stack>
  )
}

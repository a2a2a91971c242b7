import { Select, Text, TextInput } from '@mantine/core'

type Name = 'from' | 'to' | 'timezone' | 'action'

/** The fields of quiet hours. `field` gives the props of each input. */
export function QuietHoursFields({ field, readOnly }: { field: (name: Name) => object; readOnly: boolean }) {
  return (
    <>
      <TextInput {...field('from')} aria-label="From" w={80} readOnly={readOnly} />
      <Text mt={6}>to</Text>
      <TextInput {...field('to')} aria-label="To" w={80} readOnly={readOnly} />
      <TextInput
        {...field('timezone')}
        aria-label="Time zone: user, device, or a name like Europe/Berlin"
        w={150}
        readOnly={readOnly}
      />
      <Select
        {...field('action')}
        aria-label="During quiet hours"
        w={240}
        allowDeselect={false}
        readOnly={false}
        disabled={readOnly}
        data={[
          { value: 'hold', label: 'Delay until quiet hours end' },
          { value: 'skip', label: 'Don’t send' }
        ]}
      />
    </>
  )
}

export const usualQuietHours = { from: '22:00', to: '08:00', timezone: 'user', action: 'hold' } as const

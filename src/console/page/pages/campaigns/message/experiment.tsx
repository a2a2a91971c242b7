import { Group, NumberInput, Select, Switch, Text } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { useEditor } from '../editor-form.ts'

/** When the best of several variants is chosen, and by what. */
export function WinnerRule() {
  const { form } = useEditor()
  const { variants, steps, winner } = form.values
  const tested = variants !== undefined || steps?.some((step) => step.variants)
  return tested || winner ? <Winner /> : null
}

function Winner() {
  const { read, set, field, canEdit } = useEditor()
  const winner = read<NonNullable<Campaign['winner']>>('winner')
  const { readOnly, ...by } = field('winner.by')
  return (
    <Group align="start">
      <Switch
        mt={8}
        label={winner ? 'After' : 'Send only the best variant after a while'}
        checked={winner !== undefined}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) =>
          set('winner', checked ? { after: 1000, by: 'tapped' } : undefined)
        }
      />
      {winner && (
        <>
          <NumberInput
            {...field('winner.after')}
            aria-label="Messages before the choice"
            w={120}
            min={1}
            onChange={(after) => set('winner.after', Number(after))}
          />
          <Text mt={6}>messages, send only the best by</Text>
          <Select
            {...by}
            aria-label="Choose by"
            w={150}
            allowDeselect={false}
            disabled={readOnly}
            data={[
              { value: 'conversion', label: 'Conversions' },
              { value: 'tapped', label: 'Taps' },
              { value: 'delivered', label: 'Deliveries' }
            ]}
          />
        </>
      )}
    </Group>
  )
}

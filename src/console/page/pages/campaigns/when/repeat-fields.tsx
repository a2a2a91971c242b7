import { Chip, Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { cronOf, type Repeat, repeatOf } from './cron.ts'

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
/** The week begins on Monday. */
const week = [1, 2, 3, 4, 5, 6, 0]
const two = (value: number) => String(value).padStart(2, '0')

/** Fields for the usual recurring times. They write a cron expression; one that they cannot show is called custom. */
export function RepeatFields({
  cron,
  set,
  readOnly
}: {
  cron: string
  set: (cron: string) => void
  readOnly: boolean
}) {
  const repeat = repeatOf(cron)
  const change = (part: Partial<Repeat>) =>
    set(cronOf({ every: 'week', minute: 0, hour: 9, days: [1], date: 1, ...repeat, ...part }))
  return (
    <Group align="end">
      <Select
        label="Every"
        w={130}
        allowDeselect={false}
        disabled={readOnly}
        value={repeat?.every ?? 'custom'}
        onChange={(every) => every && every !== 'custom' && change({ every: every as Repeat['every'] })}
        data={['hour', 'day', 'week', 'month', ...(repeat ? [] : ['custom'])]}
      />
      {repeat?.every === 'month' && (
        <NumberInput
          label="Day of the month"
          w={130}
          min={1}
          max={31}
          readOnly={readOnly}
          value={repeat.date}
          onChange={(date) => Number(date) >= 1 && Number(date) <= 31 && change({ date: Number(date) })}
        />
      )}
      {repeat?.every === 'hour' && (
        <NumberInput
          label="At minute"
          w={110}
          min={0}
          max={59}
          readOnly={readOnly}
          value={repeat.minute}
          onChange={(minute) => minute !== '' && Number(minute) <= 59 && change({ minute: Number(minute) })}
        />
      )}
      {repeat && repeat.every !== 'hour' && (
        <TextInput
          label="At"
          type="time"
          w={120}
          readOnly={readOnly}
          value={`${two(repeat.hour)}:${two(repeat.minute)}`}
          onChange={({ currentTarget: { value } }) => {
            const [hour, minute] = value.split(':').map(Number)
            if (hour !== undefined && minute !== undefined) change({ hour, minute })
          }}
        />
      )}
      {repeat?.every === 'week' && (
        <fieldset style={{ border: 'none', padding: 0, margin: 0, minWidth: 0 }} disabled={readOnly}>
          <Text component="legend" size="sm" fw={500}>
            On
          </Text>
          <Chip.Group
            multiple
            value={repeat.days.map(String)}
            onChange={(days) => days.length > 0 && change({ days: days.map(Number) })}
          >
            <Group gap={4}>
              {week.map((day) => (
                <Chip key={day} value={String(day)} size="xs">
                  {weekdays[day]}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
        </fieldset>
      )}
    </Group>
  )
}

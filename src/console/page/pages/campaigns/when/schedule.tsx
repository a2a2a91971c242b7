import { Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { useAside, useEditor } from '../editor-form.ts'
import { ErrorText } from '../segment/error-text.tsx'
import { Occurrences } from './occurrences.tsx'
import { RepeatFields } from './repeat-fields.tsx'
import { ZoneField } from './zone-field.tsx'

type Schedule = NonNullable<Campaign['schedule']>

/** The times of a scheduled campaign: once, or again and again. */
export function ScheduleFields() {
  const { read, set, canEdit, findError } = useEditor()
  const repeats = read('schedule.cron') !== undefined
  // Keeps the fields of the other kind, so that switching back loses nothing.
  const other = useAside<Schedule>('schedule', { cron: '0 9 * * 1' })
  const turn = () => {
    const { at, cron, starts_at, ends_at, ...common } = read<Schedule>('schedule') ?? {}
    const before = other.current
    other.current = repeats ? { cron, starts_at, ends_at } : { at }
    set('schedule', { ...common, ...before })
  }
  return (
    <Stack component="section" aria-label="Schedule">
      <SegmentedControl
        aria-label="Frequency"
        w="fit-content"
        value={repeats ? 'repeats' : 'once'}
        onChange={turn}
        disabled={!canEdit}
        data={[
          { value: 'once', label: 'Once' },
          { value: 'repeats', label: 'Repeatedly' }
        ]}
      />
      {repeats ? <Recurring /> : <LocalTime path="schedule.at" label="Date and time" />}
      <Zone />
      <TextInput
        {...useEditor().field('schedule.late')}
        label="Send late for up to"
        description="If nothing ran at that time. 30m, 6h, 1d. Default: 1h"
        placeholder="1h"
        maw={280}
      />
      <ErrorText text={findError('schedule', true)} />
      <Occurrences />
    </Stack>
  )
}

function Recurring() {
  const { read, set, field, canEdit } = useEditor()
  const cron = read<string>('schedule.cron') ?? ''
  return (
    <>
      <RepeatFields cron={cron} set={(next) => set('schedule.cron', next)} readOnly={!canEdit} />
      <TextInput
        {...field('schedule.cron')}
        // An empty expression is kept, so that the fields stay those of a recurring time.
        onChange={({ currentTarget }) => set('schedule', { ...read<Schedule>('schedule'), cron: currentTarget.value })}
        label="Cron expression"
        description="Minute, hour, day of the month, month, weekday"
        styles={{ input: { fontFamily: 'monospace' } }}
        maw={280}
      />
      <Group grow align="start" maw={520}>
        <LocalTime path="schedule.starts_at" label="Not before" />
        <LocalTime path="schedule.ends_at" label="Not after" />
      </Group>
    </>
  )
}

/** A local time. One that was saved in another form, such as with an offset, is shown as text. */
function LocalTime({ path, label }: { path: string; label: string }) {
  const { field } = useEditor()
  const props = field(path)
  const plain = props.value === '' || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(props.value)
  return <TextInput {...props} label={label} type={plain ? 'datetime-local' : 'text'} maw={280} />
}

function Zone() {
  const { read, set, field, canEdit } = useEditor()
  const own = read('schedule.timezone') === 'user'
  return (
    <Group align="start">
      <SegmentedControl
        aria-label="Whose time zone"
        value={own ? 'user' : 'one'}
        disabled={!canEdit}
        onChange={(kind) => set('schedule.timezone', kind === 'user' ? 'user' : undefined)}
        data={[
          { value: 'one', label: 'One time zone' },
          { value: 'user', label: 'Each user’s local time' }
        ]}
      />
      {own ? (
        <ZoneField
          {...field('schedule.fallback_timezone')}
          aria-label="Time zone of users without one"
          description="For users without a time zone"
          placeholder="UTC"
        />
      ) : (
        <ZoneField {...field('schedule.timezone')} aria-label="Time zone" placeholder="UTC" />
      )}
    </Group>
  )
}

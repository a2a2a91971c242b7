import { Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AttributeCondition } from '../../../../../wire.ts'
import { useEditor } from '../editor-form.ts'
import { ErrorText } from '../segment/error-text.tsx'
import { EventFilters } from '../segment/event-filters.tsx'
import { EventName, EventNameHint } from '../segment/event-name.tsx'

/** The event that an event-triggered campaign waits for. */
export function EventTriggerFields() {
  const { set, field } = useEditor()
  return (
    <Stack component="section" aria-label="Event trigger">
      <EventMatch path="event_trigger" label="Event" description="Goes to the user of the event." />
      <Group grow align="start" maw={520}>
        <TextInput
          {...field('event_trigger.delay')}
          label="Wait"
          description="After the event: 30m, 2h, 7d"
          placeholder="Don’t wait"
        />
        <Reentry />
      </Group>
      <OptionalEvent
        path="event_trigger.unless"
        label="Don’t send if another event comes first"
        start={() => set('event_trigger.unless', { event: '' })}
      >
        <EventMatch path="event_trigger.unless" label="Event that stops it" description="During the wait." />
      </OptionalEvent>
    </Stack>
  )
}

/** The event that ends a sequence for a user. */
export function ExitFields() {
  const { set } = useEditor()
  return (
    <OptionalEvent path="exit" label="Stop after an event" start={() => set('exit', { event: '' })}>
      <EventMatch path="exit" label="Event that ends the sequence" description="The user gets no further step." />
    </OptionalEvent>
  )
}

function OptionalEvent({
  path,
  label,
  start,
  children
}: {
  path: string
  label: string
  start: () => void
  children: ReactNode
}) {
  const { read, set, canEdit } = useEditor()
  const given = read(path) !== undefined
  return (
    <>
      <Switch
        label={label}
        checked={given}
        disabled={!canEdit}
        onChange={({ currentTarget: { checked } }) => (checked ? start() : set(path, undefined))}
      />
      {given && children}
    </>
  )
}

/** An event by its name and its properties. */
function EventMatch({ path, label, description }: { path: string; label: string; description: string }) {
  const { read, set, field, canEdit, findError } = useEditor()
  const where = read<AttributeCondition[]>(`${path}.where`)
  const name = field(`${path}.event`)
  return (
    <fieldset disabled={!canEdit} style={{ border: 'none', padding: 0, margin: 0, minWidth: 0 }}>
      <Stack gap="xs" align="start">
        <EventName
          {...name}
          onChange={(event) => set(path, { ...read<object>(path), event })}
          label={label}
          description={description}
          w={280}
          maw="100%"
        />
        {canEdit && <EventNameHint name={name.value} change={(event) => set(path, { ...read<object>(path), event })} />}
        <EventFilters
          event={name.value}
          where={where}
          set={(next) => set(`${path}.where`, next)}
          findError={findError}
          path={`${path}.where`}
        />
        <ErrorText text={findError(path, true)} />
      </Stack>
    </fieldset>
  )
}

/** How often the same user may enter: after every event, once, or again after a period. */
function Reentry() {
  const { read, set, field, canEdit } = useEditor()
  const value = read<string>('event_trigger.reentry') ?? 'every'
  const kind = value === 'every' || value === 'once' ? value : 'period'
  return (
    <Stack gap={4}>
      <Select
        label="Send to the same user"
        allowDeselect={false}
        disabled={!canEdit}
        value={kind}
        onChange={(next) => set('event_trigger.reentry', next === 'period' ? '7d' : next)}
        data={[
          { value: 'every', label: 'After every event' },
          { value: 'once', label: 'Once only' },
          { value: 'period', label: 'Once in a period' }
        ]}
      />
      {kind === 'period' && (
        // A space keeps the field while it is empty; the service rejects it.
        <TextInput
          {...field('event_trigger.reentry')}
          value={value.trim()}
          onChange={({ currentTarget }) => set('event_trigger.reentry', currentTarget.value || ' ')}
          aria-label="Period between entries"
          placeholder="7d"
        />
      )}
    </Stack>
  )
}

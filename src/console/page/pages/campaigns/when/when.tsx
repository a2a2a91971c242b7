import { useEditor } from '../editor-form.ts'
import { EventTriggerFields } from './event.tsx'
import { ScheduleFields } from './schedule.tsx'

/** The fields of the campaign's type. A campaign that is triggered by the API has none. */
export function When() {
  const { form } = useEditor()
  if (form.values.type === 'scheduled') return <ScheduleFields />
  if (form.values.type === 'event_triggered') return <EventTriggerFields />
  return null
}

import { Select } from '@mantine/core'
import { useEditor } from './editor-form.ts'

/** What happens to a user for whom a template lacks a value. */
export function OnMissing() {
  const { form, set, canEdit, findError } = useEditor()
  return (
    <Select
      label="If a value is missing"
      description="For example {{ user.name }} of a user without a name, where the template has no default"
      allowDeselect={false}
      maw={420}
      disabled={!canEdit}
      value={form.values.on_missing ?? 'send'}
      error={findError('on_missing')}
      onChange={(action) => set('on_missing', action === 'send' ? undefined : action)}
      data={[
        { value: 'send', label: 'Send with a blank' },
        { value: 'skip', label: 'Don’t send to that user' }
      ]}
    />
  )
}

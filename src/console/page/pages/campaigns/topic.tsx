import { Group, Switch, TextInput } from '@mantine/core'
import { useEditor } from './editor-form.ts'

/** The topic that people can say no to, or that the campaign is transactional and always sent. */
export function Topic() {
  const { form, set, field, canEdit, findError } = useEditor()
  return (
    <Group align="start" grow>
      <TextInput
        {...field('topic')}
        label="Topic"
        description="People who said no to it are left out."
        placeholder="None"
      />
      <Switch
        mt={28}
        label="Transactional"
        description="Sent even to people who opted out, like a receipt"
        checked={form.values.transactional === true}
        disabled={!canEdit}
        error={findError('transactional')}
        onChange={({ currentTarget: { checked } }) => set('transactional', checked || undefined)}
      />
    </Group>
  )
}

import { Group, Select, Switch } from '@mantine/core'
import { useTopics } from '../../api/topics.ts'
import { useEditor } from './editor-form.ts'

/** The topic that people can say no to, or that the campaign is transactional and always sent. */
export function Topic() {
  const { form, set, canEdit, findError } = useEditor()
  const { topic, transactional } = form.values
  const topics = (useTopics().data?.items ?? []).map(({ topic: value, name }) => ({ value, label: name }))
  const unknown = topic !== undefined && topics.every(({ value }) => value !== topic)
  return (
    <Group align="start" grow>
      <Select
        label="Topic"
        description="People who said no to it are left out."
        placeholder="None"
        clearable
        value={topic ?? null}
        onChange={(next) => set('topic', next)}
        error={findError('topic')}
        disabled={!canEdit}
        data={unknown ? [...topics, { value: topic, label: topic }] : topics}
      />
      <Switch
        mt={28}
        label="Transactional"
        description="Sent even to people who opted out, like a receipt"
        checked={transactional === true}
        disabled={!canEdit}
        error={findError('transactional')}
        onChange={({ currentTarget: { checked } }) => set('transactional', checked || undefined)}
      />
    </Group>
  )
}

import { Button, Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { useAside, useEditor } from '../editor-form.ts'
import { Actions } from './actions.tsx'
import { ObjectField } from './object-field.tsx'

type Message = NonNullable<Campaign['message']>

const options = [
  ...(['sound', 'badge', 'channel_id', 'thread_id', 'collapse_key', 'category', 'actions'] as const),
  ...(['interruption_level', 'relevance_score', 'data'] as const)
]

/** The switch that makes a message a silent push: gateways show a notification or wake the app, not both. */
function SilentSwitch({ path }: { path: string }) {
  const { read, set, canEdit } = useEditor()
  // Keeps the texts, so that switching back loses nothing.
  const shown = useAside<Message>(`silent ${path}`, {})
  const turn = (silent: boolean) => {
    const message = read<Message>(path) ?? {}
    const { data, collapse_key } = message
    const kept = { ...(data && { data }), ...(collapse_key && { collapse_key }) }
    if (silent) shown.current = message
    set(path, silent ? { silent, ...kept } : { ...shown.current, ...kept })
  }
  return (
    <Switch
      label="Silent push"
      description="Shows nothing and wakes the app. Browsers cannot."
      checked={read(`${path}.silent`) === true}
      disabled={!canEdit}
      onChange={({ currentTarget }) => turn(currentTarget.checked)}
    />
  )
}

/** Fields of a push that are not its texts. They are hidden until they are wanted. */
export function RichPush({ path }: { path: string }) {
  const { read, field } = useEditor()
  const silent = read(`${path}.silent`) === true
  const [open, setOpen] = useState(() => options.some((name) => read(`${path}.${name}`) !== undefined))
  return (
    <Stack>
      <Button
        variant="subtle"
        size="xs"
        w="fit-content"
        aria-expanded={open || silent}
        onClick={() => setOpen(!open)}
        disabled={silent}
      >
        Sound, badge, buttons and more
      </Button>
      {(open || silent) && (
        <>
          <SilentSwitch path={path} />
          {!silent && <ShownFields path={path} />}
          <TextInput
            {...field(`${path}.collapse_key`)}
            label="Collapse key"
            description="Notifications with the same key replace each other"
            maw={280}
            data-template
          />
          <ObjectField
            path={`${path}.data`}
            label="Data"
            description="For the app, texts only: {&quot;screen&quot;: &quot;offers&quot;}"
            optional
          />
        </>
      )}
    </Stack>
  )
}

function ShownFields({ path }: { path: string }) {
  const { field, set, canEdit, read, findError } = useEditor()
  const level = `${path}.interruption_level`
  const number = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text)
  const numeric = (name: string) => ({
    ...field(`${path}.${name}`),
    value: String(read(`${path}.${name}`) ?? ''),
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      set(`${path}.${name}`, number(currentTarget.value))
  })
  return (
    <>
      <Group grow align="start">
        <TextInput {...field(`${path}.sound`)} label="Sound" description="A sound of the app, or default" />
        <TextInput
          {...numeric('badge')}
          label="Badge"
          description="The number on the icon, or a template"
          data-template
        />
      </Group>
      <Group grow align="start">
        <Select
          label="Interruption level"
          placeholder="Active"
          clearable
          disabled={!canEdit}
          value={read<string>(level) ?? null}
          error={findError(level)}
          onChange={(next) => set(level, next)}
          data={[
            { value: 'passive', label: 'Passive' },
            { value: 'active', label: 'Active' },
            { value: 'time-sensitive', label: 'Time-sensitive' },
            { value: 'critical', label: 'Critical (needs Apple’s approval)' }
          ]}
        />
        <TextInput {...numeric('relevance_score')} label="Relevance" description="0 to 1, for summaries of iOS" />
      </Group>
      <Group grow align="start">
        <TextInput {...field(`${path}.thread_id`)} label="Thread" description="Groups notifications" data-template />
        <TextInput {...field(`${path}.channel_id`)} label="Android channel" />
        <TextInput {...field(`${path}.category`)} label="Category" description="iOS shows its buttons" />
      </Group>
      <Actions path={`${path}.actions`} />
    </>
  )
}

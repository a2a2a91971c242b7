import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { useEditor } from '../editor-form.ts'

const variables = (type: string) => [
  'user.name',
  'user.id',
  type === 'event_triggered' ? 'event.amount' : 'trigger.code',
  'device.platform',
  'campaign.name'
]
type Field = HTMLInputElement | HTMLTextAreaElement

/** Buttons that insert variables at the last cursor position among the fields marked `data-template`. */
export function TemplateVariables({ children }: { children: ReactNode }) {
  const { form, canEdit } = useEditor()
  const fields = useRef<HTMLDivElement>(null)
  const last = useRef<Field>(null)
  const insert = (name: string) => {
    const field = last.current?.isConnected ? last.current : fields.current?.querySelector<Field>('[data-template]')
    if (!field) return
    if (field !== last.current) field.setSelectionRange(field.value.length, field.value.length)
    field.setRangeText(`{{ ${name} }}`, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    // React updates the form on this event, as if the text had been typed.
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.focus()
  }
  return (
    <Stack
      ref={fields}
      onFocus={({ target }) => {
        if (target.matches('[data-template]')) last.current = target as unknown as Field
      }}
    >
      <Group gap={6}>
        <Text size="sm" c="dimmed">
          Liquid templates. Insert
        </Text>
        {variables(form.values.type).map((name) => (
          <Button
            key={name}
            variant="default"
            size="compact-xs"
            ff="monospace"
            disabled={!canEdit}
            aria-label={`Insert {{ ${name} }}`}
            onClick={() => insert(name)}
          >
            {`{{ ${name} }}`}
          </Button>
        ))}
      </Group>
      {children}
    </Stack>
  )
}

import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef } from 'react'

const words = ['user.name', 'user.id', 'trigger.code', 'device.platform', 'campaign.name']
type Field = HTMLInputElement | HTMLTextAreaElement

/** Fields with `data-template` inside take words by a click: where the cursor was last, or at the end of the first. */
export function TemplateVariables({ may, children }: { may: boolean; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const last = useRef<Field>(null)
  const insert = (word: string) => {
    const field = last.current?.isConnected ? last.current : place.current?.querySelector<Field>('[data-template]')
    if (!field) return
    if (field !== last.current) field.setSelectionRange(field.value.length, field.value.length)
    field.setRangeText(`{{ ${word} }}`, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    // As if it had been typed: the form hears of it in the same way.
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.focus()
  }
  return (
    <Stack
      ref={place}
      onFocus={({ target }) => {
        if (target.matches('[data-template]')) last.current = target as unknown as Field
      }}
    >
      <Group gap={6}>
        <Text size="sm" c="dimmed">
          Liquid templates. Insert
        </Text>
        {words.map((word) => (
          <Button
            key={word}
            variant="default"
            size="compact-xs"
            ff="monospace"
            disabled={!may}
            aria-label={`Insert {{ ${word} }}`}
            onClick={() => insert(word)}
          >
            {`{{ ${word} }}`}
          </Button>
        ))}
      </Group>
      {children}
    </Stack>
  )
}

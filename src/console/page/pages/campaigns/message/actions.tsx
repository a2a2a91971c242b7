import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { useEditor } from '../editor-form.ts'
import { ErrorText } from '../segment/error-text.tsx'

type Action = NonNullable<NonNullable<Campaign['message']>['actions']>[number]

/** The buttons of a notification. */
export function Actions({ path }: { path: string }) {
  const { read, set, field, canEdit, findError } = useEditor()
  const actions = read<Action[]>(path) ?? []
  const put = (next: Action[]) => set(path, next.length > 0 ? next : undefined)
  return (
    <Stack gap="xs" component="section" aria-label="Buttons">
      <Text size="sm" fw={500}>
        Buttons
      </Text>
      {actions.map((_, index) => {
        const place = `${path}[${index}]`
        // Blank texts are kept, because the button would lose a field that it needs.
        const required = (name: 'id' | 'title') => ({
          ...field(`${place}.${name}`),
          onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
            put(actions.with(index, { ...actions[index]!, [name]: currentTarget.value }))
        })
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a button is identified by its position
          <Group key={index} align="start" gap="xs">
            <TextInput {...required('id')} aria-label="Button ID" placeholder="ID" w={110} />
            <TextInput {...required('title')} aria-label="Button text" placeholder="Text" w={150} data-template />
            <TextInput
              {...field(`${place}.landing_url`)}
              aria-label="Button link"
              placeholder="https:// or app://"
              w={220}
              data-template
            />
            {canEdit && (
              <ActionIcon
                variant="subtle"
                color="red"
                mt={4}
                aria-label="Remove button"
                onClick={() => put(actions.toSpliced(index, 1))}
              >
                <RemoveIcon />
              </ActionIcon>
            )}
          </Group>
        )
      })}
      <ErrorText text={findError(path, true)} />
      {canEdit && actions.length < 4 && (
        <Button
          variant="light"
          size="xs"
          w="fit-content"
          onClick={() => put([...actions, { id: `button-${actions.length + 1}`, title: '' }])}
        >
          Add button
        </Button>
      )}
    </Stack>
  )
}

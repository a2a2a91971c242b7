import { Button, Group, NumberInput, Stack, Switch, Tabs, Text, TextInput } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { useEditor } from '../editor-form.ts'
import { ErrorText } from '../segment/error-text.tsx'
import { MessageFields } from './languages.tsx'

type Variant = NonNullable<Campaign['variants']>[number]
type Message = NonNullable<Campaign['message']>

/** One message, or variants of it of which each user gets one. `path` is that of a step, or blank for the campaign. */
export function MessageOrVariants({ path }: { path: string }) {
  const { read, set, canEdit } = useEditor()
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const variants = read<Variant[]>(at('variants'))
  const turn = (on: boolean) => {
    if (on) {
      const message = read<Message>(at('message')) ?? {}
      set(
        at('variants'),
        ['a', 'b'].map((id) => ({ id, weight: 1, message }))
      )
      set(at('message'), undefined)
    } else {
      set(at('message'), variants?.[0]?.message ?? {})
      set(at('variants'), undefined)
    }
  }
  return (
    <Stack>
      <Switch
        label="Test variants"
        description={variants && 'Turning this off keeps the first variant.'}
        checked={variants !== undefined}
        disabled={!canEdit}
        onChange={({ currentTarget }) => turn(currentTarget.checked)}
      />
      {variants ? <Variants path={at('variants')} variants={variants} /> : <MessageFields path={at('message')} />}
    </Stack>
  )
}

const shareOf = (variants: Variant[], index: number) => {
  const all = variants.reduce((sum, { weight }) => sum + Number(weight), 0)
  return all > 0 ? `${Math.round((100 * Number(variants[index]!.weight)) / all)} %` : ''
}

/** The first letter that no variant has as its id. */
const freeId = (variants: Variant[]) =>
  [...'abcdefghijklmnopqrstuvwxyz'].find((letter) => variants.every(({ id }) => id !== letter)) ?? ''

function Variants({ path, variants }: { path: string; variants: Variant[] }) {
  const { set, canEdit, findError, tabs, openTab } = useEditor()
  const setChosen = (index: number) => openTab(path, String(index))
  const open = Math.min(Number(tabs[path] ?? 0), variants.length - 1)
  const add = () => {
    const { message } = variants[open]!
    set(path, [...variants, { id: freeId(variants), weight: 1, message }])
    setChosen(variants.length)
  }
  return (
    <Tabs value={String(open)} onChange={(index) => setChosen(Number(index))} keepMounted={false} variant="outline">
      <Tabs.List aria-label="Variants">
        {variants.map(({ id }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a variant is identified by its position while its id is typed
          <Tabs.Tab key={index} value={String(index)}>
            Variant {id} · {shareOf(variants, index)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {canEdit && (
        <Button variant="subtle" size="xs" mt="xs" onClick={add}>
          Add variant
        </Button>
      )}
      <Tabs.Panel value={String(open)} pt="md">
        <VariantFields
          key={open}
          path={`${path}[${open}]`}
          remove={variants.length > 2 && canEdit ? () => set(path, variants.toSpliced(open, 1)) : undefined}
        />
      </Tabs.Panel>
      <ErrorText text={findError(path, true)} />
    </Tabs>
  )
}

function VariantFields({ path, remove }: { path: string; remove: (() => void) | undefined }) {
  const { field, read, set } = useEditor()
  return (
    <Stack>
      <Group align="start">
        <TextInput
          {...field(`${path}.id`)}
          onChange={({ currentTarget }) => set(path, { ...read<Variant>(path), id: currentTarget.value })}
          label="Variant ID"
          w={140}
        />
        <NumberInput
          {...field(`${path}.weight`)}
          label="Weight"
          description="Relative to the others"
          w={160}
          min={0}
          onChange={(weight) => set(`${path}.weight`, Number(weight))}
        />
        {remove && (
          <Button variant="light" color="red" size="xs" mt={26} onClick={remove}>
            Remove variant
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        Users keep their variant while IDs and weights stay the same.
      </Text>
      <MessageFields path={`${path}.message`} />
    </Stack>
  )
}

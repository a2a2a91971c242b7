import { Alert, Autocomplete, Button, Group, Popover, Stack, Tabs, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { useEditor } from '../editor-form.ts'
import { languageName } from './language-name.ts'
import { TextFields } from './message-fields.tsx'
import { missingPlaceholders } from './placeholders.ts'
import { RichPush } from './rich-push.tsx'

type Message = NonNullable<Campaign['message']>

const common = ['ar', 'de', 'en', 'es', 'fr', 'hi', 'id', 'it', 'ja', 'ko', 'nl', 'pl', 'pt-BR', 'tr', 'uk', 'zh-Hans']

/** A message in its default language, and a tab for each translation. */
export function MessageFields({ path }: { path: string }) {
  const { read, set, field, canEdit, tabs, openTab } = useEditor()
  const message = read<Message>(path) ?? {}
  const translations = message.translations ?? {}
  const tags = Object.keys(translations)
  const chosen = tabs[path] ?? 'default'
  const setChosen = (tag: string) => openTab(path, tag)
  const open = chosen === 'default' || tags.includes(chosen) ? chosen : 'default'
  const remove = (tag: string) => {
    const { [tag]: _gone, ...rest } = translations
    set(`${path}.translations`, Object.keys(rest).length > 0 ? rest : undefined)
  }
  if (message.silent) return <RichPush path={path} />
  if (tags.length === 0)
    return (
      <Stack>
        <TextFields path={path} />
        {canEdit && <AddLanguage known={tags} add={add} />}
        <RichPush path={path} />
      </Stack>
    )
  return (
    <Tabs value={open} onChange={(tag) => setChosen(tag ?? 'default')} keepMounted={false} variant="outline">
      <Tabs.List aria-label="Languages">
        <Tabs.Tab value="default">{message.language ? languageName(message.language) : 'Default language'}</Tabs.Tab>
        {tags.map((tag) => (
          <Tabs.Tab key={tag} value={tag}>
            {languageName(tag)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {canEdit && <AddLanguage known={tags} add={add} />}
      <Tabs.Panel value="default" pt="md">
        <Stack>
          <TextFields path={path} />
          <TextInput
            {...field(`${path}.language`)}
            label="Default language"
            description="For people whose language has no translation: en, pt-BR"
            maw={280}
          />
          <RichPush path={path} />
        </Stack>
      </Tabs.Panel>
      {tags.map((tag) => (
        <Tabs.Panel key={tag} value={tag} pt="md">
          <Stack>
            <Missing message={message} tag={tag} />
            <TextFields path={`${path}.translations.${tag}`} placeholders={message as Record<string, string>} />
            <ButtonTexts path={`${path}.translations.${tag}.actions`} actions={message.actions ?? []} />
            {canEdit && (
              <Button variant="light" color="red" size="xs" w="fit-content" onClick={() => remove(tag)}>
                Remove {languageName(tag)}
              </Button>
            )}
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  )

  function add(tag: string) {
    set(`${path}.translations`, { ...translations, [tag]: {} })
    setChosen(tag)
  }
}

/** The texts of the buttons in one language. A blank one is that of the default language. */
function ButtonTexts({ path, actions }: { path: string; actions: NonNullable<Message['actions']> }) {
  const { read, set, field } = useEditor()
  if (actions.length === 0) return null
  const texts = read<Record<string, string>>(path) ?? {}
  const put = (id: string, text: string) => {
    const { [id]: _before, ...others } = texts
    const next = text === '' ? others : { ...others, [id]: text }
    set(path, Object.keys(next).length > 0 ? next : undefined)
  }
  return (
    <Group align="start" role="group" aria-label="Buttons">
      {actions.map(({ id, title }) => (
        <TextInput
          {...field(`${path}.${id}`)}
          key={id}
          // The ID of a button may hold a dot, so the text is not read by its path.
          value={texts[id] ?? ''}
          onChange={({ currentTarget }) => put(id, currentTarget.value)}
          label={`Text of button ${id}`}
          placeholder={title}
          w={220}
          data-template
        />
      ))}
    </Group>
  )
}

/** Names the placeholders that the default language has and this translation lacks. */
function Missing({ message, tag }: { message: Message; tag: string }) {
  const missing = missingPlaceholders(message, tag)
  if (missing.length === 0) return null
  return (
    <Alert color="orange" role="status">
      Missing here: {missing.map((name) => `{{ ${name} }}`).join(', ')}
    </Alert>
  )
}

function AddLanguage({ known, add }: { known: string[]; add: (tag: string) => void }) {
  const [opened, setOpened] = useState(false)
  const [tag, setTag] = useState('')
  const submit = () => {
    if (tag.trim() === '') return
    if (!known.includes(tag.trim())) add(tag.trim())
    setTag('')
    setOpened(false)
  }
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus withinPortal={false}>
      <Popover.Target>
        <Button variant="subtle" size="xs" w="fit-content" onClick={() => setOpened(!opened)}>
          Add language
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Group align="end">
          <Autocomplete
            label="Language tag"
            placeholder="de, pt-BR"
            w={180}
            data={common.filter((each) => !known.includes(each))}
            value={tag}
            onChange={setTag}
            onKeyDown={({ key }) => key === 'Enter' && submit()}
          />
          <Button onClick={submit}>Add</Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  )
}

import { Box, Group, Modal, Text, TextInput } from '@mantine/core'
import { defaultParseSearch, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useProjectId } from '../../api/session.ts'
import { SearchIcon } from '../../parts/icons.tsx'
import { type Entry, matching } from './entries.ts'
import { byProperty, useById, useDocs, useKnown, useUsers } from './found.ts'
import { useActions, usePages } from './known.ts'

const optionId = (index: number) => `palette-${index}`

/** Finds pages, people, things and docs by a few letters, and opens them with the keyboard alone. */
export function Palette({ opened, close }: { opened: boolean; close: () => void }) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const [actions, pages] = [useActions(), usePages()]
  const [known, docs] = [useKnown(projectId, opened), useDocs(opened)]
  const [users, byId] = [useUsers(projectId, typed), useById(projectId, typed)]
  const found =
    typed.trim() === ''
      ? [...actions, ...pages.filter(({ hint }) => !hint)]
      : [
          ...byId,
          ...byProperty(projectId, typed),
          ...matching([...pages, ...actions, ...known], typed),
          ...users,
          ...matching(docs, typed)
        ]
  const current = Math.min(chosen, found.length - 1)

  useEffect(() => {
    if (!opened) return
    setTyped('')
    setChosen(0)
  }, [opened])
  useEffect(() => {
    document.getElementById(optionId(current))?.scrollIntoView({ block: 'nearest' })
  }, [current])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    close()
    if (entry.to !== undefined) {
      const [to, search] = entry.to.split('?')
      void navigate({ to, search: defaultParseSearch(search ?? '') as never })
    } else if (entry.href !== undefined) window.open(entry.href, '_blank', 'noreferrer')
    else entry.act?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) setChosen((current + step + found.length) % found.length)
    else if (event.key === 'Enter') run(found[current])
    else return
    event.preventDefault()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="10vh"
      title="Search"
      // Only the name of the dialog for screen readers.
      styles={{ header: { display: 'none' } }}
    >
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        px="md"
        leftSection={<SearchIcon />}
        placeholder="Search pages, users, plan=premium, campaigns, IDs, docs"
        aria-label="Search"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? optionId(current) : undefined}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <Found found={found} current={current} run={run} typed={typed} />
    </Modal>
  )
}

/** The lines that were found, in groups. */
function Found({
  found,
  current,
  run,
  typed
}: {
  found: Entry[]
  current: number
  run: (entry: Entry) => void
  typed: string
}) {
  return (
    <Box
      id="palette-list"
      role="listbox"
      aria-label="Results"
      p="xs"
      mah="60vh"
      style={{ overflowY: 'auto', borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      {found.length === 0 && (
        <Text p="sm" c="dimmed" role="status">
          No results for “{typed}”
        </Text>
      )}
      {found.map((entry, index) => (
        <Box key={`${entry.group} ${entry.label} ${entry.to ?? entry.href}`} role="presentation">
          {entry.group !== found[index - 1]?.group && (
            <Text size="xs" c="dimmed" fw={600} px="xs" pt="xs" role="presentation">
              {entry.group}
            </Text>
          )}
          <Group
            id={optionId(index)}
            role="option"
            aria-selected={index === current}
            justify="space-between"
            wrap="nowrap"
            px="xs"
            py={6}
            bg={index === current ? 'var(--mantine-color-default-hover)' : undefined}
            style={{ cursor: 'pointer', borderRadius: 'var(--mantine-radius-sm)' }}
            onClick={() => run(entry)}
          >
            <Text size="sm" truncate dir="auto">
              {entry.label}
            </Text>
            {entry.hint && (
              <Text size="xs" c="dimmed" truncate dir="auto" maw="50%">
                {entry.hint}
              </Text>
            )}
          </Group>
        </Box>
      ))}
    </Box>
  )
}

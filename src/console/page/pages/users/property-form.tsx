import { Alert, Autocomplete, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, fieldOrFormError } from '../../api/errors.ts'
import { useKnownProperties } from '../../api/properties.ts'
import { useProjectId } from '../../api/session.ts'
import { type Maybe, shownMaybe, usePropertyChange, userKey } from './property-change.ts'
import { ValueInput } from './value-input.tsx'
import { type Kind, kindOf, kinds, readValue, textOf, type Value } from './values.ts'

interface Props {
  userId: string
  /** Absent for a new property. */
  name?: string
  /** The value as it is now, which another person may change meanwhile. */
  now: (name: string) => Maybe
  onClose: () => void
}

/** Edits one property or adds one. What another person has saved meanwhile is shown beside, and never overwritten unseen. */
export function PropertyForm({ userId, name: given, now, onClose }: Props) {
  const [started] = useState(() => (given === undefined ? undefined : now(given)))
  const [name, setName] = useState(given ?? '')
  const [kind, setKind] = useState<Kind>(started === undefined ? 'text' : kindOf(started))
  const [text, setText] = useState(started === undefined ? '' : textOf(started))
  const queries = useQueryClient()
  const projectId = useProjectId()
  const change = usePropertyChange(userId)
  const value = readValue(kind, text)
  const save = useMutation({
    mutationFn: async (before: Maybe) => {
      if (value instanceof Error) throw value
      await change(name, before, value)
    },
    onSuccess: onClose,
    // A conflict: shows what the other has saved.
    onError: (error) =>
      error instanceof ApiError && error.code === 'conflict'
        ? queries.invalidateQueries({ queryKey: userKey(projectId, userId) })
        : undefined
  })
  const theirs = now(name)
  const conflict = theirs !== started && name !== ''
  const isConflict = save.error instanceof ApiError && save.error.code === 'conflict'
  return (
    <form
      aria-label={given === undefined ? 'Add property' : `Edit ${given}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (!conflict) save.mutate(started)
      }}
    >
      <Stack gap="sm" maw={560}>
        {given === undefined && <NameInput name={name} onChange={setName} />}
        <Select
          label="Type"
          data={kinds}
          value={kind}
          onChange={(chosen) => setKind(chosen as Kind)}
          allowDeselect={false}
          maw={200}
        />
        <ValueInput
          key={kind}
          kind={kind}
          text={text}
          onChange={setText}
          error={isConflict ? undefined : fieldOrFormError(save.error, 'set')}
          lines
        />
        {conflict ? (
          <Conflict
            isNew={given === undefined}
            theirs={theirs}
            mine={value}
            keep={onClose}
            overwrite={() => save.mutate(theirs)}
            saving={save.isPending}
          />
        ) : (
          <Group gap="xs">
            <Button type="submit" size="xs" loading={save.isPending} disabled={name === ''}>
              Save
            </Button>
            <Button size="xs" variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

function NameInput({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  const known = useKnownProperties()
  return (
    <Autocomplete
      label="Name"
      data={known.map((each) => each.name)}
      limit={50}
      value={name}
      onChange={onChange}
      maxLength={256}
      dir="auto"
      required
      data-autofocus
    />
  )
}

interface Versions {
  isNew: boolean
  theirs: Maybe
  mine: Value | Error
  keep: () => void
  overwrite: () => void
  saving: boolean
}

/** Both values, and the choice between them. */
function Conflict({ isNew, theirs, mine, keep, overwrite, saving }: Versions) {
  const title = isNew ? 'This property exists already' : 'Someone else changed this property'
  const value = (what: Maybe | Error) => (what instanceof Error ? what.message : shownMaybe(what))
  return (
    <Alert color="orange" title={title} role="alert">
      {(
        [
          ['Saved now', theirs],
          ['Yours', mine]
        ] as const
      ).map(([label, what]) => (
        <Text key={label} size="sm" lineClamp={4} style={{ overflowWrap: 'anywhere' }}>
          {label}: <bdi>{value(what)}</bdi>
        </Text>
      ))}
      <Group gap="xs" mt="sm">
        <Button size="xs" variant="default" onClick={keep}>
          Keep saved
        </Button>
        <Button
          size="xs"
          color="orange"
          variant="light"
          loading={saving}
          onClick={overwrite}
          disabled={mine instanceof Error}
        >
          Save mine
        </Button>
      </Group>
    </Alert>
  )
}

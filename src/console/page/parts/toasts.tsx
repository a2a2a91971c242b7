import { Box, Button, Group, Paper, Text, UnstyledButton } from '@mantine/core'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { RemoveIcon } from './icons.tsx'
import { raiseDialogs } from './raise-dialogs.ts'
import { makeRoom } from './toast-room.ts'
import classes from './toasts.module.css'

interface Toast {
  id: number
  text: string
  undo?: () => unknown
}

/** More would cover the page; the oldest leave first. */
const most = 4
const shownMs = 6_000
/** A person needs time to notice a mistake. */
const undoableMs = 12_000

let shown: Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function show(toasts: Toast[]): void {
  shown = toasts
  for (const listener of listeners) listener()
}

/** Says that something was done, above whatever page is open then. `undo` takes it back. */
export function toast(text: string, { undo }: { undo?: () => unknown } = {}): void {
  show([...shown, { id: ++last, text, ...(undo && { undo }) }].slice(-most))
}

const dismiss = (id: number) => show(shown.filter((each) => each.id !== id))

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The corner in which toasts appear. It is always in the page: screen readers announce only regions that they know. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  const corner = useRef<HTMLDivElement>(null)
  useEffect(() => makeRoom(corner.current!), [])
  useEffect(() => raiseDialogs(corner.current!), [])
  return (
    <Box ref={corner} role="status" aria-label="Notifications" className={classes.toasts}>
      {toasts.map((each) => (
        <ToastCard key={each.id} {...each} />
      ))}
    </Box>
  )
}

function ToastCard({ id, text, undo }: Toast) {
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => dismiss(id), undo ? undoableMs : shownMs)
    return () => clearTimeout(timer)
  }, [held, id, undo])
  const hold = { onMouseEnter: () => setHeld(true), onMouseLeave: () => setHeld(false) }
  return (
    <Paper
      withBorder
      shadow="md"
      p="sm"
      className={classes.toast}
      {...hold}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Group wrap="nowrap" justify="space-between" gap="md">
        <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
        <Group wrap="nowrap" gap="xs">
          {undo && (
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => {
                dismiss(id)
                void undo()
              }}
            >
              Undo
            </Button>
          )}
          <UnstyledButton aria-label="Dismiss" className={classes.dismiss} onClick={() => dismiss(id)}>
            <RemoveIcon />
          </UnstyledButton>
        </Group>
      </Group>
    </Paper>
  )
}

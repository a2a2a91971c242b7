import { Anchor, Badge, Box, Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { TaskRecord } from '../../../../wire.ts'
import { useProjectId } from '../../api/session.ts'
import { taskLink } from '../../parts/links.ts'
import { Lines, When } from '../../parts/texts.tsx'
import type { Sending } from './conversation.ts'
import { DataLinks } from './data-links.tsx'
import { TaskState } from './task-state.tsx'

type Step = TaskRecord['steps'][number]

/** One line of the conversation: messages of the person on the right, those of the agent on the left. */
const Bubble = ({ mine = false, state, children }: { mine?: boolean; state?: string; children: ReactNode }) => (
  <Group justify={mine ? 'end' : 'start'} data-event={state}>
    <Paper
      withBorder
      radius="lg"
      p="sm"
      maw="min(85%, 560px)"
      miw={0}
      bg={mine ? 'var(--mantine-color-blue-light)' : undefined}
    >
      <Stack gap={6} miw={0}>
        {children}
      </Stack>
    </Paper>
  </Group>
)

const Words = ({ children }: { children: string }) => (
  <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
    {children}
  </Text>
)

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const longestLine = 300

/** Data in one line, as far as a person reads: `trigger-campaign: campaignId welcome, broadcast true`. */
function lineOf(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return valueText(data).slice(0, longestLine)
  const { skill, ...fields } = data as Record<string, unknown>
  const rest = Object.entries(fields).map(([name, value]) => `${name} ${valueText(value)}`)
  const line = [...(typeof skill === 'string' ? [skill] : []), rest.join(', ')].filter(Boolean).join(': ')
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}

/** JSON is there for those who want to read it. */
export const Folded = ({ label, value }: { label: string; value: unknown }) => (
  <details>
    <summary style={{ fontSize: 12 }}>{label}</summary>
    <Box mt={4} style={{ overflowX: 'auto' }}>
      <Lines>{JSON.stringify(value, null, 2)}</Lines>
    </Box>
  </details>
)

/** What was said and done in one task. */
export function TaskBubbles({ task }: { task: TaskRecord }) {
  const projectId = useProjectId()
  return (
    <Stack gap="xs">
      {task.steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added
        <StepBubble key={index} step={step} />
      ))}
      <Text size="xs" c="dimmed">
        <Anchor component={Link} size="xs" to={taskLink(projectId, task.id)}>
          View task
        </Anchor>{' '}
        · <When at={task.changed_at} />
      </Text>
    </Stack>
  )
}

function StepBubble({ step: { kind, state, name, text, data } }: { step: Step }) {
  const json = data.map((one, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
    <Box key={index}>
      {text === null && <Words>{lineOf(one)}</Words>}
      <Folded label="JSON" value={one} />
      <DataLinks data={one} />
    </Box>
  ))
  if (kind === 'message')
    return (
      <Bubble mine>
        {text !== null && <Words>{text}</Words>}
        {json}
      </Bubble>
    )
  // States without words are only passed through.
  if (kind === 'state' && text === null) return <Box data-event={state} />
  return (
    <Bubble state={state ?? 'result'}>
      <Group gap="xs">
        {kind === 'state' ? (
          <TaskState state={state ?? ''} />
        ) : (
          <Badge variant="light" color="teal">
            {name}
          </Badge>
        )}
      </Group>
      {text !== null && <Words>{text}</Words>}
      {json}
    </Bubble>
  )
}

/** A message on its way, and the states as they are streamed. */
export const SendingBubbles = ({ sending: { parts, states } }: { sending: Sending }) => (
  <Stack gap="xs" role="status" aria-label="Sending">
    <Bubble mine>
      {parts.map((part, index) =>
        part.text === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
          <Words key={index}>{lineOf(part.data)}</Words>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
          <Words key={index}>{part.text}</Words>
        )
      )}
    </Bubble>
    <Bubble>
      <Group gap="xs">
        {states.length === 0 && <Text size="sm">Sending…</Text>}
        {states.map(({ state }) => (
          <TaskState key={state} state={state} />
        ))}
      </Group>
    </Bubble>
  </Stack>
)

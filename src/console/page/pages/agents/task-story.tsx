import { Anchor, Badge, Group, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Approval, TaskRecord } from '../../../../wire.ts'
import { useProjectId } from '../../api/session.ts'
import { approvalLink } from '../../parts/links.ts'
import { Row } from '../../parts/row.tsx'
import { plural, When } from '../../parts/texts.tsx'
import { askerOf } from './asker.ts'
import { Folded } from './chat.tsx'
import { DataLinks } from './data-links.tsx'
import { useSkills } from './skills.ts'
import { TaskState } from './task-state.tsx'

type Step = TaskRecord['steps'][number]

const Words = ({ children }: { children: string }) => (
  <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
    {children}
  </Text>
)

const Nothing = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)

/** The first messages, before any question. */
const isQuestion = ({ kind, state }: Step) =>
  kind === 'state' && (state === 'input-required' || state === 'auth-required')

export function Asked({ task }: { task: TaskRecord }) {
  const first = task.steps.findIndex(({ kind }) => kind === 'state')
  const messages = task.steps.slice(0, first < 0 ? undefined : first).filter(({ kind }) => kind === 'message')
  return (
    <>
      <Text size="sm">
        {askerOf(task.asked_by)}, <When at={task.begun_at} />
      </Text>
      {messages.map(({ text, data }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no names
        <div key={index}>
          {text !== null && <Words>{`“${text}”`}</Words>}
          {data.map((one, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
            <Folded key={at} label="Data as JSON" value={one} />
          ))}
        </div>
      ))}
    </>
  )
}

const shownValue = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** `projectUserId` becomes `Project user id`. */
const labelOf = (name: string) => {
  const words = name
    .replace(/([A-Z])/g, ' $1')
    .replaceAll('_', ' ')
    .toLowerCase()
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function Understood({ task: { understood } }: { task: TaskRecord }) {
  const skills = useSkills()
  if (understood === null) return <Nothing>No action was understood.</Nothing>
  const { skill, fields, text } = understood
  const name = skills.data?.find(({ id }) => id === skill)?.name
  return (
    <>
      {text !== null && <Words>{text}</Words>}
      <Table withRowBorders={false} verticalSpacing={2}>
        <Table.Tbody>
          <Row name="Skill">{name ? `${name} (${skill})` : skill}</Row>
          {Object.entries(fields)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([field, value]) => (
              <Row key={field} name={labelOf(field)}>
                {shownValue(value)}
              </Row>
            ))}
        </Table.Tbody>
      </Table>
      <DataLinks data={fields} />
    </>
  )
}

/** The questions with their numbers, and the approvals that were asked for. */
export function Shown({ task, approvals }: { task: TaskRecord; approvals: Approval[] }) {
  const projectId = useProjectId()
  const questions = task.steps.filter(isQuestion)
  if (questions.length === 0 && approvals.length === 0) return <Nothing>Nothing: it needed no question.</Nothing>
  return (
    <>
      {questions.map(({ at, text, data }) => (
        <div key={at}>
          <Text size="xs" c="dimmed">
            <When at={at} />
          </Text>
          {text !== null && <Words>{text}</Words>}
          {data.length > 0 && <Folded label="What was shown, as JSON" value={data.length === 1 ? data[0] : data} />}
        </div>
      ))}
      {approvals.map(({ id, recipients, devices, complete }) => (
        <Text key={id} size="sm">
          {complete ? '' : 'At least '}
          {plural(recipients, 'user')} on {plural(devices, 'device')}.{' '}
          <Anchor component={Link} size="sm" to={approvalLink(projectId, id)}>
            Open approval
          </Anchor>
        </Text>
      ))}
    </>
  )
}

/** Answers to questions, with the time at which the task went on, and decisions of people. */
export function Agreed({ task: { steps, asked_by }, approvals }: { task: TaskRecord; approvals: Approval[] }) {
  const decided = approvals.filter(({ state }) => state !== 'pending')
  const answers = steps.flatMap((step, index) => {
    const before = steps.slice(0, index).findLast(({ kind }) => kind === 'state')
    return step.kind === 'message' && before && isQuestion(before) ? [{ step, next: steps[index + 1] }] : []
  })
  if (answers.length === 0 && decided.length === 0)
    return (
      <Nothing>{approvals.length > 0 ? 'A person has not decided yet.' : 'No agreement was needed or given.'}</Nothing>
    )
  return (
    <>
      {answers.map(({ step, next }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: answers have no names
        <div key={index}>
          <Text size="sm">
            {askerOf(asked_by)} answered{step.text !== null && ` “${step.text}”`}
            {next?.at && (
              <>
                , <When at={next.at} />
              </>
            )}
          </Text>
          {step.data.map((one, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
            <Folded key={at} label="Answer as JSON" value={one} />
          ))}
        </div>
      ))}
      {decided.map(({ id, state, decided_by_name, decided_by, decided_at, note }) => (
        <Text key={id} size="sm">
          {decided_by === null ? `The approval was ${state}` : `${decided_by_name ?? decided_by} ${state} it`},{' '}
          <When at={decided_at} />
          {note !== null && `: “${note}”`}
        </Text>
      ))}
    </>
  )
}

const ended = ['completed', 'failed', 'rejected', 'canceled']

/** The results with links, and the words of the end. */
export function Done({ task }: { task: TaskRecord }) {
  const results = task.steps.filter(({ kind }) => kind === 'result')
  const end = task.steps.findLast(({ kind, state }) => kind === 'state' && ended.includes(state ?? ''))
  if (!end && results.length === 0) return <Nothing>Not done yet.</Nothing>
  return (
    <>
      {end && (
        <Group gap="xs">
          <TaskState state={end.state ?? ''} />
          <Text size="sm">
            <When at={end.at} />
          </Text>
        </Group>
      )}
      {end?.text && <Words>{end.text}</Words>}
      {results.map(({ name, text, data }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: results are only ever added
        <div key={index}>
          <Badge variant="light" color="teal">
            {name}
          </Badge>
          {text !== null && <Words>{text}</Words>}
          {data.map((one, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
            <div key={at}>
              <Figures data={one} />
              <DataLinks data={one} />
              <Folded label="Result as JSON" value={one} />
            </div>
          ))}
        </div>
      ))}
    </>
  )
}

/** The plain values of a result, such as its counts. */
function Figures({ data }: { data: unknown }) {
  const plain = Object.entries((data ?? {}) as object).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  )
  if (plain.length === 0) return null
  return (
    <Table withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {plain.slice(0, 12).map(([name, value]) => (
          <Row key={name} name={labelOf(name)}>
            {String(value)}
          </Row>
        ))}
      </Table.Tbody>
    </Table>
  )
}

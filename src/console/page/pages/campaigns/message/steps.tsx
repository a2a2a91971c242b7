import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import type { Campaign } from '../../../../../wire.ts'
import { useEditor } from '../editor-form.ts'
import { ErrorText } from '../segment/error-text.tsx'
import { ExitFields } from '../when/event.tsx'
import { MessageOrVariants } from './variants.tsx'

type Step = NonNullable<Campaign['steps']>[number]

const freeId = (steps: Step[]) => {
  for (let number = steps.length + 1; ; number++)
    if (steps.every(({ id }) => id !== `step-${number}`)) return `step-${number}`
}

/** The steps of a sequence, one after another, and the event that ends it. */
export function Steps({ steps }: { steps: Step[] }) {
  const { set, canEdit, findError } = useEditor()
  const move = (from: number, to: number) => set('steps', steps.toSpliced(from, 1).toSpliced(to, 0, steps[from]!))
  return (
    <Stack>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position while its id is typed
        <Paper key={index} withBorder p="sm" component="section" aria-label={`Step ${index + 1}`}>
          <Stack>
            <Group justify="space-between">
              <Title order={3} size="h5">
                Step {index + 1}
              </Title>
              {canEdit && (
                <StepButtons
                  number={index + 1}
                  up={index > 0 ? () => move(index, index - 1) : undefined}
                  down={index < steps.length - 1 ? () => move(index, index + 1) : undefined}
                  remove={steps.length > 1 ? () => set('steps', steps.toSpliced(index, 1)) : undefined}
                />
              )}
            </Group>
            <StepFields path={`steps[${index}]`} first={index === 0} />
            <ErrorText text={findError(`steps[${index}]`, true)} />
            {/* A step that moves takes the texts of its fields with it. */}
            <MessageOrVariants key={step.id} path={`steps[${index}]`} />
          </Stack>
        </Paper>
      ))}
      <ErrorText text={findError('steps', true)} />
      {canEdit && (
        <Button
          variant="light"
          w="fit-content"
          onClick={() => set('steps', [...steps, { id: freeId(steps), wait: '1d', message: {} }])}
        >
          Add step
        </Button>
      )}
      <ExitFields />
      <Text size="sm" c="dimmed">
        People who are in the sequence when you save a change finish the version they started.
      </Text>
    </Stack>
  )
}

function StepFields({ path, first }: { path: string; first: boolean }) {
  const { field, read, set } = useEditor()
  return (
    <Group align="start">
      <TextInput
        {...field(`${path}.id`)}
        onChange={({ currentTarget }) => set(path, { ...read<Step>(path), id: currentTarget.value })}
        label="Step ID"
        w={160}
      />
      <TextInput
        {...field(`${path}.wait`)}
        label="Wait before it"
        description={first ? 'After the start: 30m, 2d' : 'After the step before: 30m, 2d'}
        placeholder="Don’t wait"
        w={200}
      />
    </Group>
  )
}

function StepButtons({
  number,
  up,
  down,
  remove
}: {
  number: number
  up: (() => void) | undefined
  down: (() => void) | undefined
  remove: (() => void) | undefined
}) {
  return (
    <Group gap={4}>
      <Button variant="default" size="compact-xs" disabled={!up} onClick={up} aria-label={`Move step ${number} up`}>
        Up
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        disabled={!down}
        onClick={down}
        aria-label={`Move step ${number} down`}
      >
        Down
      </Button>
      <Button
        variant="light"
        color="red"
        size="compact-xs"
        disabled={!remove}
        onClick={remove}
        aria-label={`Remove step ${number}`}
      >
        Remove
      </Button>
    </Group>
  )
}

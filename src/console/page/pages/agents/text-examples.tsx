import { Button, Group, Stack, Text } from '@mantine/core'
import { useSkills } from './skills.ts'

/** Texts to begin with, one for each skill. A click fills the message and sends nothing. */
export function TextExamples({ choose }: { choose: (text: string) => void }) {
  const skills = useSkills()
  const examples = skills.data?.flatMap(({ name, examples: [first] }) => (first ? [{ name, text: first }] : [])) ?? []
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Say what you want in plain words. The agent asks before it sends to many.
      </Text>
      <Group gap="xs" role="group" aria-label="Examples">
        {examples.map(({ name, text }) => (
          <Button key={text} size="xs" radius="xl" variant="default" title={text} onClick={() => choose(text)}>
            {name}
          </Button>
        ))}
      </Group>
    </Stack>
  )
}

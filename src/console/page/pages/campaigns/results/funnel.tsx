import { Box, Group, Stack, Text } from '@mantine/core'
import type { CampaignFigures } from '../../../../../wire.ts'
import { percent } from './share.tsx'

/** Steps from the audience to the goal. A bar is as long as its share of the audience; the text compares the step before. */
export function Funnel({ totals, hasGoal }: { totals: CampaignFigures; hasGoal: boolean }) {
  const { targeted, sent, failed, skipped, delivered, tapped, users, converted, conversion_value } = totals
  const steps: [label: string, count: number, of: number, word: string][] = [
    ['Targeted', targeted, targeted, 'devices'],
    ['Sent', sent, targeted, 'of targeted'],
    ['Delivered', delivered, sent, 'of sent'],
    ['Tapped', tapped, sent, 'of sent'],
    ...(hasGoal || converted > 0
      ? [['Converted', converted, users, 'of users'] satisfies [string, number, number, string]]
      : [])
  ]
  return (
    <Stack gap="xs">
      {steps.map(([label, count, of, word]) => (
        <Box key={label}>
          <Group justify="space-between" gap="xs">
            <Text size="sm">{label}</Text>
            <Text size="sm" data-figure={label.toLowerCase()}>
              {count.toLocaleString()} {of > 0 && label !== 'Targeted' ? `· ${percent(count / of)} ${word}` : word}
            </Text>
          </Group>
          <Box h={12} bg="var(--mantine-color-default-border)" aria-hidden>
            <Box
              h={12}
              w={`${targeted > 0 ? Math.min(100, (count / targeted) * 100) : 0}%`}
              bg="var(--mantine-color-teal-6)"
            />
          </Box>
        </Box>
      ))}
      <Text size="sm" c="dimmed">
        {users.toLocaleString()} users · {failed.toLocaleString()} failed · {skipped.toLocaleString()} skipped
        {conversion_value !== 0 && ` · value ${conversion_value.toLocaleString()}`}
      </Text>
    </Stack>
  )
}

import { Badge, Progress as Bar } from '@mantine/core'
import type { Trigger } from '../../../../wire.ts'

const colors: Record<string, string> = {
  completed: 'teal',
  failed: 'red',
  canceled: 'gray',
  canceling: 'orange',
  scheduled: 'indigo'
}

export const StateBadge = ({ state }: { state: string }) => (
  <Badge color={colors[state] ?? 'cyan'} variant="light">
    {state}
  </Badge>
)

/** The shares of sent, failed and skipped messages among those targeted so far. */
export function Progress({ counts }: Pick<Trigger, 'counts'>) {
  const share = (count: number) => (counts.targeted === 0 ? 0 : (100 * count) / counts.targeted)
  return (
    <Bar.Root size="lg" aria-label="Progress">
      <Bar.Section value={share(counts.sent)} color="teal" aria-label={`${counts.sent} sent`} />
      <Bar.Section value={share(counts.failed)} color="red" aria-label={`${counts.failed} failed`} />
      <Bar.Section value={share(counts.skipped)} color="gray.5" aria-label={`${counts.skipped} skipped`} />
    </Bar.Root>
  )
}

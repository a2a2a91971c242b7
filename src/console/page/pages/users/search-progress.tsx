import { Progress as Bar, Button, Group, Text } from '@mantine/core'
import { plural } from '../../parts/texts.tsx'
import type { Progress } from './search-pages.ts'

/** How far a search has come that takes several pages, with a button to stop or resume it. */
export function SearchProgress({ found, searched, about, complete, searching, stop, resume }: Progress) {
  if (complete || about === 0) return null
  // The number of users is an estimate, and may be too small.
  const all = Math.max(about, searched)
  const users =
    about > searched ? `${searched.toLocaleString()} of about ${plural(about, 'user')}` : plural(searched, 'user')
  const text = `Searched ${users} · ${plural(found, 'match', 'matches')}`
  return (
    <Group gap="sm" maw={560}>
      <Bar value={(searched / all) * 100} animated={searching} flex="1 1 120px" aria-label="Search progress" />
      <Text size="sm" role="status">
        {text}
      </Text>
      {searching ? (
        <Button size="compact-sm" variant="default" onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button size="compact-sm" variant="default" onClick={resume}>
          Continue searching
        </Button>
      )}
    </Group>
  )
}

import { List, Text } from '@mantine/core'
import { When } from '../../../parts/texts.tsx'
import { useEditor } from '../editor-form.ts'

const wall = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** The next times of the schedule, as it is typed. */
export function Occurrences() {
  const { nextAt } = useEditor()
  if (!nextAt) return null
  if (nextAt.length === 0) return <Text role="status">No time lies ahead: nothing will be sent.</Text>
  // Times without a zone are those of each user. The times shown may be older than the choice of the zone.
  const own = !nextAt[0]!.endsWith('Z')
  return (
    <section aria-label="Next times">
      <Text size="sm" fw={500}>
        Next times{own ? ', on the clock of each user' : ', on your clock'}
      </Text>
      <List size="sm">
        {nextAt.map((at) => (
          // Local times are shown as they are, without a zone.
          <List.Item key={at}>{own ? wall.format(new Date(`${at}Z`)) : <When at={at} />}</List.Item>
        ))}
      </List>
    </section>
  )
}

import { Anchor, Code, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Actor, AuditEntry } from '../../../../wire.ts'
import type { PagedList as Pages } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { changesIn } from './audit-changes.ts'
import { targetLink, targetTab } from './audit-links.ts'

/** Changes with their times, each as a sentence. `empty`: what will be there. */
export const AuditList = ({
  pages,
  filtered,
  empty
}: {
  pages: Pages<AuditEntry>
  filtered: boolean
  empty: string
}) => (
  <PagedList
    label="Audit log"
    pages={pages}
    keyOf={({ id }) => id}
    empty={
      filtered ? (
        <EmptyState title="No matching changes">Clear a filter to see more.</EmptyState>
      ) : (
        <EmptyState title="No changes yet">{empty}</EmptyState>
      )
    }
    columns={[
      { name: 'Time', width: 140, show: ({ at }) => <When at={at} /> },
      { name: 'Change', show: (entry) => <Sentence entry={entry} /> }
    ]}
  />
)

/** `Ada (editor)`; several keys may have one name, so a key is called a key. */
export const labelOf = ({ actor, name, role }: Actor) =>
  name === null ? actor : actor.startsWith('key ') ? `${name} (key)` : role ? `${name} (${role})` : name

/** `Ada (editor) activated the campaign Welcome`, and below it the old and the new values. */
function Sentence({ entry }: { entry: AuditEntry }) {
  const projectId = useProjectId()
  const { actor, actor_name, actor_role, phrase, target_name } = entry
  const link = projectId ? targetLink(projectId, entry) : undefined
  return (
    <Stack gap={2} miw={0} maw={760}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b dir="auto" title={actor}>
          {labelOf({ actor, name: actor_name, role: actor_role })}
        </b>{' '}
        {phrase}{' '}
        {link ? (
          <Anchor component={Link} to={link} search={{ tab: targetTab(entry) } as never} size="sm">
            <bdi>{target_name}</bdi>
          </Anchor>
        ) : (
          <bdi>{target_name}</bdi>
        )}
      </Text>
      {changesIn(entry).map(({ field, from, to }) => (
        <Text key={field} size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {field}: <bdi>{from}</bdi> → <bdi>{to}</bdi>
        </Text>
      ))}
      <Extra entry={entry} />
    </Stack>
  )
}

/** The rest of the details, folded. */
const Extra = ({ entry: { details, action, target } }: { entry: AuditEntry }) => (
  <details>
    <summary style={{ fontSize: 12 }}>Details</summary>
    <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {JSON.stringify({ action, target, ...details }, null, 2)}
    </Code>
  </details>
)

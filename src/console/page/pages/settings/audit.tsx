import { Anchor, Code, Group, Select, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Actor, AuditEntry } from '../../../../wire.ts'
import { useActors } from '../../api/actors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { changesIn } from './audit-changes.ts'
import { targetLink, targetTab } from './audit-links.ts'

const kinds = [
  { value: 'campaign', label: 'Campaigns' },
  { value: 'segment', label: 'Segments' },
  { value: 'topic', label: 'Topics' },
  { value: 'approval', label: 'Approvals' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'gateway', label: 'Gateways' },
  { value: 'key', label: 'Keys' },
  { value: 'token', label: 'Tokens' },
  { value: 'member', label: 'Members' },
  { value: 'users', label: 'Users' },
  { value: 'project', label: 'Project' }
]

const dayMs = 86_400_000
const periods = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' }
]

/** The start of the day some days ago, so that the query stays the same while the page renders again. */
const daysAgo = (days: string) => new Date(Math.floor((Date.now() - Number(days) * dayMs) / 60_000) * 60_000)

/** The changes in the project, each as a sentence. */
export function Audit() {
  const [actor] = useUrlState('actor')
  const [action] = useUrlState('kind')
  const [days] = useUrlState('days')
  const from = periods.some(({ value }) => value === days) ? daysAgo(days).toISOString() : undefined
  return (
    <Stack>
      <Filters />
      <PagedList
        label="Audit log"
        pages={usePagedList<AuditEntry>('/audit', { actor, action, from })}
        keyOf={({ id }) => id}
        empty={
          actor || action || from ? (
            <EmptyState title="No matching changes">Clear a filter to see more.</EmptyState>
          ) : (
            <EmptyState title="No changes yet">Every change of this project appears here, with its author.</EmptyState>
          )
        }
        columns={[
          { name: 'Time', width: 140, show: ({ at }) => <When at={at} /> },
          { name: 'Change', show: (entry) => <Sentence entry={entry} /> }
        ]}
      />
    </Stack>
  )
}

function Filters() {
  const [actor, setActor] = useUrlState('actor')
  const [kind, setKind] = useUrlState('kind')
  const [days, setDays] = useUrlState('days')
  const actors = useActors()
  const people = actors.data?.items.map((one) => ({ value: one.actor, label: labelOf(one) })) ?? []
  const common = { placeholder: 'Any', clearable: true, w: 200 }
  return (
    <Group>
      <Select label="Who" {...common} searchable value={actor || null} onChange={setActor} data={people} />
      <Select label="What" {...common} value={kind || null} onChange={setKind} data={kinds} />
      <Select label="When" {...common} value={days || null} onChange={setDays} data={periods} />
    </Group>
  )
}

/** `Ada (editor)`; several keys may have one name, so a key is called a key. */
const labelOf = ({ actor, name, role }: Actor) =>
  name === null ? actor : actor.startsWith('key ') ? `${name} (key)` : role ? `${name} (${role})` : name

/** `Ada (editor) activated the campaign Welcome`, and below it the old and the new values. */
function Sentence({ entry }: { entry: AuditEntry }) {
  const projectId = useProjectId()
  const { actor, actor_name, actor_role, phrase, target_name } = entry
  const link = targetLink(projectId, entry)
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

import { Alert, Anchor, Group, List, Paper, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Approval } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { approvalLink, campaignLink, taskLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Row } from '../../parts/row.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Lines, plural, When } from '../../parts/texts.tsx'
import { PauseAgents } from '../settings/pause-button.tsx'
import { ApprovalState } from './approval-state.tsx'
import { DecisionForm } from './decision-form.tsx'
import { actionOf, askerOf } from './words.ts'

/** One action that an agent asked for: its effect, its reason, and the decision. */
export function ApprovalPage() {
  const projectId = useProjectId()
  const { approvalId = '' } = useParams({ strict: false }) as { approvalId?: string }
  const approval = useQuery({
    queryKey: ['approval', projectId, approvalId],
    queryFn: () => project<Approval>(projectId, 'GET', `/approvals/${encodeURIComponent(approvalId)}`),
    meta: { kinds: ['approvals'] }
  })
  return <Loaded query={approval}>{(found) => <ApprovalDetail approval={found} />}</Loaded>
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => (
  <PageLayout
    title={actionOf(approval)}
    about={approval.reason}
    actions={
      <>
        <ApprovalState state={approval.state} />
        <PauseAgents />
      </>
    }
  >
    <Outcome approval={approval} />
    {approval.state === 'pending' && <DecisionForm approval={approval} />}
    <Reach approval={approval} />
    <Sample approval={approval} />
    <Request approval={approval} />
  </PageLayout>
)

function Outcome({ approval }: { approval: Approval }) {
  const projectId = useProjectId()
  const { state, decided_at, decided_by, decided_by_name, note, superseded_by } = approval
  if (state === 'pending') return null
  return (
    <Alert color={state === 'approved' ? 'teal' : 'gray'} role="status">
      {outcomeWords[state]} <When at={decided_at} />
      {decided_by !== null && `, by ${decided_by_name ?? decided_by}`}.{note !== null && ` Note: “${note}”`}
      {superseded_by !== null && (
        <>
          {' '}
          <Anchor component={Link} to={approvalLink(projectId, superseded_by)}>
            Open the new approval
          </Anchor>
        </>
      )}
    </Alert>
  )
}

const outcomeWords: Record<Exclude<Approval['state'], 'pending'>, string> = {
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired without a decision',
  superseded: 'Replaced, because the campaign or its audience had changed,',
  canceled: 'Canceled by the agent'
}

function Reach({ approval: { recipients, devices, complete, excluded } }: { approval: Approval }) {
  const reasons = Object.entries(excluded)
  return (
    <Panel title="Who would receive it">
      <Text>
        {complete ? '' : 'At least '}
        {plural(recipients, 'user')} on {plural(devices, 'device')}.
      </Text>
      {reasons.length > 0 && (
        <List size="sm" mt="xs">
          {reasons.map(([reason, count]) => (
            <List.Item key={reason}>
              {count.toLocaleString()} excluded: {reason.replaceAll('_', ' ')}
            </List.Item>
          ))}
        </List>
      )}
    </Panel>
  )
}

const Sample = ({ approval: { sample } }: { approval: Approval }) => (
  <Panel title="What they would see">
    {sample.length === 0 && <Text size="sm">No device would show it, or the users of the sample were erased.</Text>}
    <Group align="stretch">
      {sample.map(({ project_user_id, title, body }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two samples may be of one user
        <Paper key={index} withBorder p="sm" maw={320}>
          <Text size="xs" c="dimmed">
            {project_user_id ?? 'anonymous user'}
          </Text>
          {title !== null && <Text fw={600}>{title}</Text>}
          {body !== null && <Text size="sm">{body}</Text>}
        </Paper>
      ))}
    </Group>
  </Panel>
)

function Request({ approval }: { approval: Approval }) {
  const projectId = useProjectId()
  const { campaign_id, campaign_name, campaign_version, task_id, requested_at, expires_at, command } = approval
  return (
    <Panel title="Request">
      <Stack>
        <Table withRowBorders={false}>
          <Table.Tbody>
            <Row name="Asked by">{askerOf(approval)}</Row>
            <Row name="Asked">
              <When at={requested_at} />
            </Row>
            <Row name="Expires">
              <When at={expires_at} />
            </Row>
            {campaign_id !== null && (
              <Row name="Campaign">
                <Anchor component={Link} to={campaignLink(projectId, campaign_id)}>
                  {campaign_name ?? campaign_id}
                </Anchor>
                , version {campaign_version}
              </Row>
            )}
            <Row name="Task">
              <Anchor component={Link} to={taskLink(projectId, task_id)}>
                {task_id}
              </Anchor>
            </Row>
          </Table.Tbody>
        </Table>
        <Lines aria-label="Command">{JSON.stringify(command, null, 2)}</Lines>
      </Stack>
    </Panel>
  )
}

import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Approval } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { approvalLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { plural, When } from '../../parts/texts.tsx'
import { PauseAgents } from '../settings/pause-button.tsx'
import { ApprovalState } from './approval-state.tsx'
import { actionOf, askerOf } from './words.ts'

/** Actions of agents that wait for a person, and those that were decided. */
export const Approvals = () => (
  <PageLayout
    title="Approvals"
    about="Actions that agents asked for and that a person decides. Nothing is sent before."
    actions={<PauseAgents />}
  >
    <PageTabs
      tabs={[
        ['pending', 'Waiting', <ApprovalList key="pending" state="pending" />],
        ['approved', 'Approved', <ApprovalList key="approved" state="approved" />],
        ['rejected', 'Rejected', <ApprovalList key="rejected" state="rejected" />],
        ['all', 'All', <ApprovalList key="all" />]
      ]}
    />
  </PageLayout>
)

function ApprovalList({ state }: { state?: Approval['state'] }) {
  const projectId = useProjectId()
  return (
    <PagedList
      label="Approvals"
      pages={usePagedList<Approval>('/approvals', { state })}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title={state === 'pending' ? 'Nothing waits for approval' : 'No approvals'}>
          The policy of an agent’s key says which actions need one. Set it under Settings, Keys.
        </EmptyState>
      }
      columns={[
        {
          name: 'Action',
          show: (approval) => (
            <Anchor component={Link} to={approvalLink(projectId, approval.id)}>
              {actionOf(approval)}
            </Anchor>
          )
        },
        { name: 'Recipients', show: ({ recipients }) => plural(recipients, 'user') },
        { name: 'Asked by', show: askerOf },
        { name: 'Asked', show: ({ requested_at }) => <When at={requested_at} /> },
        { name: 'State', show: (approval) => <ApprovalState state={approval.state} /> }
      ]}
    />
  )
}

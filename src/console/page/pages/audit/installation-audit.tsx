import { Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../wire.ts'
import { useInstallationActors } from '../../api/actors.ts'
import { useInstallationList } from '../../api/paged-list.ts'
import { PageLayout } from '../../parts/page.tsx'
import { AuditFilters, useAuditQuery } from '../settings/audit-filters.tsx'
import { AuditList } from '../settings/audit-list.tsx'

const kinds = [
  { value: 'member.sign_in', label: 'Sign-ins of members' },
  { value: 'token.sign_in', label: 'Sign-ins with tokens' },
  { value: 'member', label: 'Members' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'token', label: 'Tokens' },
  { value: 'project', label: 'Projects' }
]

/** Sign-ins, and changes of members, tokens and projects, for admins of the whole installation. */
export function InstallationAudit() {
  const { query, filtered } = useAuditQuery()
  return (
    <PageLayout
      title="Audit log"
      about="Sign-ins, and changes of members, tokens for all projects and projects. Each project has a log of its own in its settings."
      docs="guides/people"
    >
      <Stack>
        <AuditFilters actors={useInstallationActors().data?.items} kinds={kinds} />
        <AuditList
          pages={useInstallationList<AuditEntry>('/audit', query)}
          filtered={filtered}
          empty="Sign-ins and changes of the whole installation appear here."
        />
      </Stack>
    </PageLayout>
  )
}

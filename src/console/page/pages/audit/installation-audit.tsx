import { Group, Select, Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../wire.ts'
import { useInstallationList } from '../../api/paged-list.ts'
import { PageLayout } from '../../parts/page.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { AuditList } from '../settings/audit-list.tsx'
import { PeriodSelect, useFrom } from '../settings/audit-period.tsx'

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
  const [action, setAction] = useUrlState('kind')
  const from = useFrom()
  return (
    <PageLayout
      title="Audit log"
      about="Sign-ins, and changes of members, tokens for all projects and projects. Each project has a log of its own in its settings."
      docs="guides/people"
    >
      <Stack>
        <Group>
          <Select
            label="What"
            placeholder="Any"
            clearable
            w={200}
            value={action || null}
            onChange={setAction}
            data={kinds}
          />
          <PeriodSelect />
        </Group>
        <AuditList
          pages={useInstallationList<AuditEntry>('/audit', { action, from })}
          filtered={Boolean(action || from)}
          empty="Sign-ins and changes of the whole installation appear here."
        />
      </Stack>
    </PageLayout>
  )
}

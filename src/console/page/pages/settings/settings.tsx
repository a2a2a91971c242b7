import { useHasRole } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { ProjectMembers } from '../members/project-members.tsx'
import { Audit } from './audit.tsx'
import { Gateways } from './gateways.tsx'
import { Keys } from './keys.tsx'
import { ProjectSettings } from './project.tsx'
import { SendingLimits } from './sending-limits.tsx'
import { Tokens } from './tokens.tsx'
export function Settings() {
  const admin = useHasRole('admin')
  return (
    <PageLayout title="Settings" about="Project settings, access and audit log.">
      <PageTabs
        tabs={[
          ['project', 'Project', <ProjectSettings key="project" />],
          ['limits', 'Sending limits', <SendingLimits key="limits" />],
          ['gateways', 'Gateways', <Gateways key="gateways" />],
          ...(admin
            ? ([
                ['keys', 'Keys', <Keys key="keys" />],
                ['members', 'Members', <ProjectMembers key="members" />],
                ['tokens', 'Tokens', <Tokens key="tokens" />],
                ['audit', 'Audit log', <Audit key="audit" />]
              ] satisfies [string, string, React.ReactNode][])
            : [])
        ]}
      />
    </PageLayout>
  )
}

import { PageTabs } from '../../parts/in-url.tsx'
import { PageOf } from '../../parts/page.tsx'
import { useMay } from '../../who.ts'
import { Audit } from './settings-audit.tsx'
import { Gateways } from './settings-gateways.tsx'
import { Keys } from './settings-keys.tsx'
import { ProjectSettings } from './settings-project.tsx'
import { Tokens } from './settings-tokens.tsx'

export function Settings() {
  const admin = useMay('admin')
  return (
    <PageOf title="Settings" about="Project settings, access and audit log.">
      <PageTabs
        tabs={[
          ['project', 'Project', <ProjectSettings key="project" />],
          ['gateways', 'Gateways', <Gateways key="gateways" />],
          ...(admin
            ? ([
                ['keys', 'Keys', <Keys key="keys" />],
                ['tokens', 'Tokens', <Tokens key="tokens" />],
                ['audit', 'Audit log', <Audit key="audit" />]
              ] satisfies [string, string, React.ReactNode][])
            : [])
        ]}
      />
    </PageOf>
  )
}

import { Tabs } from '@mantine/core'
import { PageOf } from '../parts/page.tsx'
import { useMay } from '../who.ts'
import { Audit } from './settings-audit.tsx'
import { Gateways } from './settings-gateways.tsx'
import { Keys } from './settings-keys.tsx'
import { ProjectSettings } from './settings-project.tsx'

export function Settings() {
  const admin = useMay('admin')
  return (
    <PageOf title="Settings" about="The project, who may use it, and what was changed.">
      <Tabs defaultValue="project" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="project">Project</Tabs.Tab>
          <Tabs.Tab value="gateways">Gateways</Tabs.Tab>
          {admin && <Tabs.Tab value="keys">Keys</Tabs.Tab>}
          {admin && <Tabs.Tab value="audit">Audit log</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="project" pt="md">
          <ProjectSettings />
        </Tabs.Panel>
        <Tabs.Panel value="gateways" pt="md">
          <Gateways />
        </Tabs.Panel>
        <Tabs.Panel value="keys" pt="md">
          <Keys />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="md">
          <Audit />
        </Tabs.Panel>
      </Tabs>
    </PageOf>
  )
}

import { Code, Stack, Text, Title } from '@mantine/core'
import { useProject } from '../../api/session.ts'
import { DocsLink } from '../../parts/texts.tsx'
import { ProjectSwitch } from './project-switch.tsx'

/** Whether analytics SDKs may send to this project, and how they are pointed to it. */
export function IntakeOfSdks() {
  const found = useProject()
  if (!found) return null
  return (
    <Stack component="section" aria-label="Analytics SDKs" gap="xs" mt="xl" maw={640}>
      <Title order={2} size="h4">
        Analytics SDKs
      </Title>
      <ProjectSwitch
        of={found}
        setting="intake"
        label="Accept users and events from Segment SDKs"
        description="The SDKs use a public key of this project as their write key."
      />
      {found.intake && (
        <>
          <Text size="sm">In a web page:</Text>
          <Code block>
            {`AnalyticsBrowser.load({\n  writeKey: '<public key>',\n  cdnURL: '${location.origin}'\n})`}
          </Code>
          <Text size="sm">
            Mobile and server SDKs take a host instead. <DocsLink to="guides/intake">How messages are stored</DocsLink>
          </Text>
        </>
      )}
    </Stack>
  )
}

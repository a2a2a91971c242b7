import { Code, Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Project } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProject } from '../../api/session.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { DocsLink } from '../../parts/texts.tsx'

/** Whether analytics SDKs may send to this project, and how they are pointed to it. */
export function IntakeOfSdks() {
  const found = useProject()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (on: boolean) => project<Project>(found!.id, 'PATCH', '', { body: { intake: on } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] })
  })
  if (!found) return null
  return (
    <Stack component="section" aria-label="Analytics SDKs" gap="xs" mt="xl" maw={640}>
      <Title order={2} size="h4">
        Analytics SDKs
      </Title>
      <Switch
        label="Accept users and events from Segment SDKs"
        description="The SDKs use a public key of this project as their write key."
        checked={found.intake}
        disabled={change.isPending}
        onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
      />
      {change.error && <ErrorAlert error={change.error} />}
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

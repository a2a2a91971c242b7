import { Anchor, Box, Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ChangeKind, Device, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { sendPush, sent } from '../../api/send-push.ts'
import { useHasRole, useProject, useProjectId } from '../../api/session.ts'
import { CheckIcon } from '../../parts/icons.tsx'
import { pageLink } from '../../parts/links.ts'
import { CopyBlock, DocsLink } from '../../parts/texts.tsx'
import { gatewaysOf } from './health.tsx'
import { ThisBrowser } from './this-browser.tsx'

interface Step {
  label: string
  done: boolean
  content: ReactNode
}

/** The way from nothing to a push on a real screen. The first step that is not done is open; a finished list is hidden. */
export function SetupSteps() {
  const steps = useSteps()
  if (!steps || steps.every(({ done }) => done)) return null
  const next = steps.findIndex(({ done }) => !done)
  return (
    <Paper withBorder p="md" component="section" aria-label="Next steps">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Next steps
        </Title>
        <Text size="sm" c="dimmed">
          {steps.filter(({ done }) => done).length} of {steps.length} done
        </Text>
      </Group>
      <Stack gap={4} component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {steps.map(({ label, done, content }, index) => (
          <Box component="li" key={label}>
            <details open={index === next}>
              <Text component="summary" fw={500} style={{ cursor: 'pointer' }} c={done ? 'dimmed' : undefined}>
                {label}{' '}
                {done && (
                  <>
                    <CheckIcon /> <VisuallyHidden>done</VisuallyHidden>
                  </>
                )}
              </Text>
              <Stack gap="xs" p="xs">
                {content}
              </Stack>
            </details>
          </Box>
        ))}
      </Stack>
    </Paper>
  )
}

const PageAnchor = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to}>
    {children}
  </Anchor>
)

/** Undefined until it is known what the project has. */
function useSteps(): Step[] | undefined {
  const projectId = useProjectId()
  const mode = useProject()?.mode
  const queries = useQueryClient()
  const list = <Item,>(path: string, kind: ChangeKind, limit: number) => ({
    queryKey: ['setup', projectId, path],
    queryFn: () => project<Page<Item>>(projectId, 'GET', path, { query: { limit } }),
    meta: { kinds: [kind] }
  })
  const messages = useQuery(list('/messages?status=SUCCEED', 'messages', 1))
  const devices = useQuery(list<Device>('/devices', 'devices', 50))
  const campaigns = useQuery(list('/campaigns', 'campaigns', 1))
  const gateways = useQuery(gatewaysOf(projectId))
  if (!messages.data || !devices.data || !campaigns.data || !gateways.data) return undefined
  const reachable = devices.data.items.find(
    ({ project_user_id, push, is_push_permission_granted: allowed }) =>
      project_user_id !== null && allowed && push && !push.turned_off_at
  )
  const user = reachable?.project_user_id ?? 'demo-user'
  const real = devices.data.items.some(({ sdk_type, push }) => sdk_type !== 'simulated' && push)
  return [
    {
      label: 'Send your first push',
      done: messages.data.items.length > 0,
      content: <FirstPush user={user} reachable={reachable !== undefined} />
    },
    {
      label: 'Register a device',
      done: devices.data.items.length > 0,
      content: (
        <Text size="sm">
          Add a simulated device in the <PageAnchor to={pageLink(projectId, 'lab')}>device lab</PageAnchor>, or have
          your app call POST /api/v1/devices with a public key: <DocsLink to="guides/ios">iOS</DocsLink>,{' '}
          <DocsLink to="guides/android">Android</DocsLink>, <DocsLink to="guides/web-push">Web</DocsLink>.
        </Text>
      )
    },
    {
      label: 'Write a campaign',
      done: campaigns.data.items.length > 0,
      content: (
        <Text size="sm">
          A message and its audience, triggered by your code, a schedule, an event or an agent.{' '}
          <PageAnchor to={pageLink(projectId, 'new-campaign')}>New campaign</PageAnchor>
        </Text>
      )
    },
    {
      label: 'Reach a real browser or phone',
      done: real,
      content: (
        <>
          <ThisBrowser user={user} done={() => queries.invalidateQueries({ queryKey: ['setup', projectId] })} />
          <Text size="sm">
            Your app does the same with a few lines: <DocsLink to="guides/web-push">Web</DocsLink>,{' '}
            <DocsLink to="guides/ios">iOS</DocsLink>, <DocsLink to="guides/android">Android</DocsLink>.
          </Text>
        </>
      )
    },
    {
      label: 'Go live',
      done: mode === 'live' && gateways.data.items.length > 0,
      content: (
        <Text size="sm">
          Add your APNs, FCM or Web Push credentials in the{' '}
          <PageAnchor to={`${pageLink(projectId, 'settings')}?tab=gateways`}>settings</PageAnchor>, then set the mode to
          live. <DocsLink to="tutorials/going-live">Going live</DocsLink>
        </Text>
      )
    }
  ]
}

function FirstPush({ user, reachable }: { user: string; reachable: boolean }) {
  const projectId = useProjectId()
  const canSend = useHasRole('editor')
  const navigate = useNavigate()
  const lab = pageLink(projectId, 'lab')
  const { mode } = useProject() ?? {}
  const unreachable = mode === 'live' && !reachable
  const send = useMutation({
    mutationFn: async () => {
      // A project begins without devices. In a simulated one the page adds the phone that the push appears on.
      const phone = { platform: 'IOS', project_user_id: user }
      if (!reachable && mode === 'simulator') await project(projectId, 'POST', '/simulator/devices', { body: phone })
      return sendPush(projectId, { user, title: 'Hello', body: 'It works' })
    },
    onSuccess: (outcome) => {
      if (outcome === sent && mode === 'simulator') void navigate({ to: lab })
    }
  })
  return (
    <>
      <CopyBlock label="curl" text={curlOf(projectId, user)} />
      <Group gap="xs">
        {canSend && !unreachable && (
          <Button size="xs" loading={send.isPending} onClick={() => send.mutate()}>
            Send a test push
          </Button>
        )}
        <Text size="sm" role="status">
          {send.error?.message ?? send.data ?? ''}
        </Text>
        <Text size="sm">
          {unreachable ? (
            'No device can be reached yet. Register one from your app, then send.'
          ) : mode === 'simulator' ? (
            <>
              It appears in the <PageAnchor to={lab}>device lab</PageAnchor>.
            </>
          ) : (
            'It appears on the device of the user.'
          )}
        </Text>
      </Group>
    </>
  )
}

function curlOf(projectId: string, user: string): string {
  const content = { title: 'Hello', body: 'It works' }
  const body = JSON.stringify({ push_notifications: [{ target: { project_user_id: user }, ...content }] })
  return `curl -X POST ${location.origin}/api/v1/messages:send -H 'X-Service-Project-ID: ${projectId}' \\
  -H 'X-Service-API-Key: <secret key>' -H 'Content-Type: application/json' -d '${body}'`
}

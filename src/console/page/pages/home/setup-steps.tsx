import { Anchor, Button, Group, Paper, Stepper, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { sendPush, sent } from '../../api/send-push.ts'
import { useHasRole, useProject, useProjectId } from '../../api/session.ts'
import { pageLink } from '../../parts/links.ts'
import { CopyBlock } from '../../parts/texts.tsx'
import { gatewaysOf } from './health.tsx'

/** The steps to a working project. The first step that is not done is open. */
export function SetupSteps() {
  const projectId = useProjectId()
  const next = useStepsDone().indexOf(false)
  return (
    <Paper withBorder p="md" component="section" aria-label="Next steps">
      <Stepper active={next === -1 ? 3 : next} size="sm" iconSize={28}>
        <Stepper.Step label="Send your first push" description="and watch it arrive">
          <FirstPush />
        </Stepper.Step>
        <Stepper.Step label="Register a device" description="simulated or real">
          <Text>
            Add a simulated device in the <PageAnchor to={pageLink(projectId, 'lab')}>device lab</PageAnchor>, or have
            your app call POST /api/v1/devices with a public key.
          </Text>
        </Stepper.Step>
        <Stepper.Step label="Connect a gateway" description="to reach real devices">
          <Text>
            Add your APNs, FCM or Web Push credentials in the{' '}
            <PageAnchor to={pageLink(projectId, 'settings')}>settings</PageAnchor>, then set the mode to live.
          </Text>
        </Stepper.Step>
        <Stepper.Completed>
          <Text>Setup complete.</Text>
        </Stepper.Completed>
      </Stepper>
    </Paper>
  )
}

const PageAnchor = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to}>
    {children}
  </Anchor>
)

/** Whether there is a message, a device, and a gateway of a live project. */
function useStepsDone(): boolean[] {
  const projectId = useProjectId()
  const mode = useProject()?.mode
  const first = (kind: 'messages' | 'devices') => ({
    queryKey: ['first', projectId, kind],
    queryFn: () => project<Page<unknown>>(projectId, 'GET', `/${kind}`, { query: { limit: 1 } }),
    meta: { kinds: [kind] }
  })
  const messages = useQuery(first('messages'))
  const devices = useQuery(first('devices'))
  const gateways = useQuery(gatewaysOf(projectId))
  const some = (page: { items: unknown[] } | undefined) => (page?.items.length ?? 0) > 0
  return [some(messages.data), some(devices.data), some(gateways.data) && mode === 'live']
}

const push = { user: 'demo-user', title: 'Hello', body: 'It works' }

function FirstPush() {
  const projectId = useProjectId()
  const canSend = useHasRole('editor')
  const navigate = useNavigate()
  const lab = pageLink(projectId, 'lab')
  const send = useMutation({
    mutationFn: () => sendPush(projectId, push),
    onSuccess: (outcome) => {
      if (outcome === sent) void navigate({ to: lab })
    }
  })
  return (
    <>
      <CopyBlock label="curl" text={curlOf(projectId)} />
      <Group mt="xs" gap="xs">
        {canSend && (
          <Button size="xs" loading={send.isPending} onClick={() => send.mutate()}>
            Send a test push
          </Button>
        )}
        <Text size="sm" role="status">
          {send.error?.message ?? send.data ?? ''}
        </Text>
        <Text size="sm">
          It appears in the <PageAnchor to={lab}>device lab</PageAnchor>.
        </Text>
      </Group>
    </>
  )
}

function curlOf(projectId: string): string {
  const { user, ...content } = push
  const body = JSON.stringify({ push_notifications: [{ target: { project_user_id: user }, ...content }] })
  return `curl -X POST ${location.origin}/api/v1/messages:send -H 'X-Service-Project-ID: ${projectId}' \\
  -H 'X-Service-API-Key: <secret key>' -H 'Content-Type: application/json' -d '${body}'`
}

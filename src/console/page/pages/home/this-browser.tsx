import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { project } from '../../api/client.ts'
import { sendPush, sent } from '../../api/send-push.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { keep } from '../../parts/session-state.ts'

/** The part of the browser client that this page uses. */
interface Client {
  deviceId: string
  linkUser(projectUserId: string): Promise<void>
  registerWebPush(options: { serviceWorker: string }): Promise<boolean>
}

const client: string = '/sdk/tidings.js'
const keyName = (projectId: string) => `tidings-browser-key ${projectId}`

/** The client of apps itself, as their pages load it. It keeps the device's id in this browser. */
async function clientOf(projectId: string, publicKey: string): Promise<Client> {
  const { createTidings } = await import(/* @vite-ignore */ client)
  return createTidings({ baseUrl: location.origin, projectId, publicKey })
}

/** Makes this browser a device of the project, and sends it a push. */
export function ThisBrowser({ user, done }: { user: string; done: () => unknown }) {
  const projectId = useProjectId()
  const canCreateKeys = useHasRole('admin')
  // In a simulated project the page itself fetches the pushes, so the client starts with the page.
  useEffect(() => {
    const known = localStorage.getItem(keyName(projectId))
    if (known) void clientOf(projectId, known)
  }, [projectId])
  const subscribe = useMutation({
    mutationFn: async () => {
      const publicKey = localStorage.getItem(keyName(projectId)) ?? (await createKey(projectId))
      const tidings = await clientOf(projectId, publicKey)
      const allowed = await tidings.registerWebPush({ serviceWorker: '/console/push-worker.js' })
      if (!allowed) return 'Your browser does not allow notifications for this site. Allow them, then try again.'
      await tidings.linkUser(user)
      const push = { user, title: 'Hello from Tidings', body: 'This browser is now a device of your project.' }
      const outcome = await sendPush(projectId, push)
      return outcome === sent ? 'Sent. The notification appears on your screen in a moment.' : outcome
    },
    onSuccess: done
  })
  if (!canCreateKeys) return <Text size="sm">An admin can register a browser here with one click.</Text>
  if (!('serviceWorker' in navigator))
    return <Text size="sm">To register this browser, open the console over HTTPS or on localhost.</Text>
  return (
    <Group gap="xs">
      <Button size="xs" loading={subscribe.isPending} onClick={() => subscribe.mutate()}>
        Push to this browser
      </Button>
      <Text size="sm" role="status">
        {subscribe.error?.message ?? subscribe.data ?? ''}
      </Text>
    </Group>
  )
}

/** The text of a key is shown once, so this browser gets one of its own. A public key is no secret. */
async function createKey(projectId: string): Promise<string> {
  const body = { kind: 'public', name: 'Browser of the console' }
  const { key } = await project<{ key: string }>(projectId, 'POST', '/keys', { body })
  keep(localStorage, keyName(projectId), key)
  return key
}

import { Anchor, Badge, Button, Group, Menu, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Phone } from '../../../../wire.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { userLink } from '../../parts/links.ts'
import { Clip, plural } from '../../parts/texts.tsx'
import { platformNames } from './add-device.tsx'
import classes from './lab.module.css'
import { PhoneScreen } from './phone-screen.tsx'
import { justMs, usePhoneActions } from './phones.ts'

/** A simulated phone or browser: its screen, whose it is, its state, and what a person can do with it. */
export function PhoneCard({ device, now, show }: { device: Phone; now: number; show: (item: string) => void }) {
  const { id, platform, project_user_id: user, phone } = device
  const projectId = useProjectId()
  const canAct = useHasRole('editor')
  const fresh = phone.received_at !== null && now - Date.parse(phone.received_at) < justMs
  return (
    <article
      className={`${classes.phone} ${fresh ? classes.fresh : ''}`}
      data-device={id}
      aria-label={`${platformNames[platform]} ${id}`}
    >
      <Group gap={4} mih={22} justify="center">
        {fresh && (
          <Badge color="teal" variant="filled" autoContrast>
            Just received
          </Badge>
        )}
        {statesOf(device).map((state) => (
          <Badge key={state} color="gray" variant="light" maw={300} title={state}>
            {state}
          </Badge>
        ))}
      </Group>
      <PhoneScreen device={device} show={show} />
      <Text size="sm" fw={500}>
        {platformNames[platform]}{' '}
        {user === null ? (
          <Text span c="dimmed" size="sm">
            No user logged in
          </Text>
        ) : (
          <Anchor component={Link} to={userLink(projectId, user)} size="sm">
            <Clip width={170}>{user}</Clip>
          </Anchor>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        <Clip width={260}>{id}</Clip>
      </Text>
      {canAct && <Controls device={device} />}
    </article>
  )
}

/** The unusual things about a phone, in words. */
function statesOf({ phone, push, is_push_permission_granted: allowed }: Phone): string[] {
  const waiting = phone.held > 0 ? ` · ${plural(phone.held, 'push', 'pushes')} waiting` : ''
  return [
    ...(phone.online ? [] : [`Offline${waiting}`]),
    ...(phone.installed ? [] : ['App uninstalled']),
    ...(allowed ? [] : ['Push denied']),
    ...(push && !push.turned_off_at ? [] : [`Unreachable: ${push?.turned_off_reason ?? 'no push token'}`])
  ]
}

function Controls({ device }: { device: Phone }) {
  const { phone, is_push_permission_granted: allowed } = device
  const { change, remove } = usePhoneActions(device.id)
  const set = (body: object, said: string) => change.mutate({ body, said })
  return (
    <Group gap={4} justify="center">
      <Button
        variant="default"
        size="compact-xs"
        onClick={() =>
          phone.online
            ? set({ online: false }, 'Offline: the gateway holds pushes until the phone is back.')
            : set({ online: true }, 'Online again. Pushes that the gateway held have arrived.')
        }
      >
        {phone.online ? 'Go offline' : 'Go online'}
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        disabled={!phone.installed}
        onClick={() =>
          set(
            { push_permission: !allowed },
            allowed ? 'Push denied. The app has reported it.' : 'Push allowed. The app has reported it.'
          )
        }
      >
        {allowed ? 'Deny push' : 'Allow push'}
      </Button>
      <Menu withinPortal hideDetached={false}>
        <Menu.Target>
          <Button variant="default" size="compact-xs" aria-label={`More actions for ${device.id}`}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {phone.installed ? (
            <Menu.Item onClick={() => set({ installed: false }, 'App uninstalled. Its tokens no longer work.')}>
              Uninstall the app
            </Menu.Item>
          ) : (
            <Menu.Item onClick={() => set({ installed: true }, 'App installed, with new tokens.')}>
              Reinstall the app
            </Menu.Item>
          )}
          <Menu.Item color="red" onClick={() => remove.mutate()}>
            Remove device
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

import { useState } from 'react'
import type { Phone } from '../../../../wire.ts'
import { useHasRole } from '../../api/session.ts'
import { ActivityCard, NotificationCard, Screen } from '../../parts/phone/phone.tsx'
import { platformNames } from './add-device.tsx'
import classes from './lab.module.css'
import { usePhoneActions } from './phones.ts'

type Notification = Phone['phone']['notifications'][number]

/** The screen of a phone. A tap opens the app, which reports it. */
export function PhoneScreen({ device, show }: { device: Phone; show: (item: string) => void }) {
  const { phone, platform, id } = device
  const { act } = usePhoneActions(id)
  const canAct = useHasRole('editor')
  const [opened, setOpened] = useState<{ title: string | null; url: string | null }>()
  const tap = ({ id: item, title }: Notification, action?: string) =>
    act.mutate(
      { item, verb: 'tap', body: action === undefined ? {} : { action } },
      { onSuccess: ({ landing_url }) => setOpened({ title, url: landing_url ?? null }) }
    )
  return (
    <div className={phone.online && phone.installed ? undefined : classes.off}>
      <Screen
        platform={platform}
        label={`Lock screen of ${platformNames[platform]} of ${device.project_user_id ?? 'no user'}`}
      >
        {opened ? (
          <OpenedApp {...opened} close={() => setOpened(undefined)} />
        ) : (
          <>
            {phone.activities.map(({ activity_id, attributes_type, channel_id, state }) => (
              <ActivityCard
                key={activity_id}
                type={attributes_type}
                state={state}
                {...(channel_id === null ? { id: activity_id } : { channel: channel_id })}
              />
            ))}
            {phone.notifications.map((each) => (
              <div key={each.id} data-push={each.id}>
                <NotificationCard
                  {...each}
                  buttons={each.buttons.map(({ title }) => title)}
                  message={each.message_id}
                  {...(canAct && { open: () => tap(each), press: (index) => tap(each, each.buttons[index]!.id) })}
                />
                <div className={classes.tools}>
                  <Tool label="Gateway request" of={each} onClick={() => show(each.id)} />
                  {canAct && (
                    <Tool
                      label="Dismiss"
                      of={each}
                      onClick={() => act.mutate({ item: each.id, verb: 'dismiss', body: {} })}
                    />
                  )}
                </div>
              </div>
            ))}
            {phone.notifications.length + phone.activities.length === 0 && (
              <div className={classes.empty}>{phone.installed ? 'No notifications' : 'The app is not installed'}</div>
            )}
          </>
        )}
      </Screen>
    </div>
  )
}

const Tool = ({ label, of, onClick }: { label: string; of: Notification; onClick: () => void }) => (
  <button
    type="button"
    className={classes.tool}
    aria-label={`${label}: ${of.title ?? of.body ?? ''}`}
    onClick={onClick}
  >
    {label}
  </button>
)

/** The app after a tap, with the link that it received. */
const OpenedApp = ({ title, url, close }: { title: string | null; url: string | null; close: () => void }) => (
  <div className={classes.app}>
    <b dir="auto">App opened{title ? ` from “${title.slice(0, 80)}”` : ''}</b>
    {url === null ? (
      <span>The push has no link.</span>
    ) : /^https?:/.test(url) ? (
      <a href={url} target="_blank" rel="noreferrer noopener">
        {url}
      </a>
    ) : (
      <code>{url}</code>
    )}
    <button type="button" className={classes.tool} onClick={close}>
      Close the app
    </button>
  </div>
)

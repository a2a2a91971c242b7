import type { Phone } from '../../wire.ts'
import { exit, Failure } from '../exit.ts'
import { counted, printable, shortened } from '../output.ts'
import type { Resource } from '../resource.ts'
import { inProject, type Session, tell } from '../session.ts'

interface Changes {
  offline?: true
  online?: true
  deny?: true
  allow?: true
  uninstall?: true
  reinstall?: true
}

/** Each pair of options is one field of the phone. */
const pairs = [
  ['online', 'online', 'offline'],
  ['push_permission', 'allow', 'deny'],
  ['installed', 'reinstall', 'uninstall']
] as const

/** What a person does with a simulated phone: `tidings device set`, `screen`, `tap` and `dismiss`. */
export function declarePhone(devices: Resource): void {
  devices.verb<Changes>(
    {
      usage: 'set <device>',
      about: 'Change a simulated phone: offline, push permission, app',
      examples: ['tidings device set demo-iphone --offline', 'tidings device set demo-android --uninstall'],
      more: 'Gateways hold pushes for a phone that is offline, and refuse the tokens of an\nuninstalled app.',
      options: (set) =>
        set
          .option('--offline', 'Gateways hold pushes for it')
          .option('--online', 'It gets what gateways held')
          .option('--deny', 'Pushes are not allowed')
          .option('--allow', 'Pushes are allowed')
          .option('--uninstall', 'The app is removed: its tokens die')
          .option('--reinstall', 'The app registers with new tokens'),
      check: (options) => void changesOf(options)
    },
    async (session, options, id: string) => {
      const phone = await session.client.json<Phone>('PATCH', at(session, id), { body: changesOf(options) })
      tell(session, phone, screen(phone))
    }
  )

  devices.verb(
    {
      usage: 'screen <device>',
      about: 'Show the screen of a simulated phone',
      examples: ['tidings device screen demo-iphone']
    },
    async (session, _, id: string) => {
      const phone = await session.client.json<Phone>('GET', at(session, id))
      tell(session, phone, screen(phone))
    }
  )

  for (const [verb, about] of [
    ['tap', 'Tap the newest notification of a simulated phone, or press one of its buttons'],
    ['dismiss', 'Dismiss the newest notification of a simulated phone']
  ] as const)
    devices.verb<{ push?: string; button?: string }>(
      {
        usage: `${verb} <device>`,
        about,
        examples: [`tidings device ${verb} demo-iphone`],
        options: (act) => {
          act.option('--push <id>', 'Another notification, by its id in the inbox')
          if (verb === 'tap') act.option('--button <id>', 'The button to press')
        }
      },
      async (session, { push, button }, id: string) => {
        const item = push ?? (await newest(session, id))
        const path = inProject(session, `/simulator/inbox/${encodeURIComponent(item)}:${verb}`)
        const body = button === undefined ? {} : { action: button }
        const done = await session.client.json<{ landing_url?: string | null }>('POST', path, { body })
        const opened = done.landing_url ? `Tapped. It opens ${printable(done.landing_url)}.` : 'Tapped.'
        tell(session, { push: item, ...done }, verb === 'tap' ? opened : 'Dismissed.')
      }
    )
}

const at = (session: Session, id: string) => inProject(session, `/simulator/devices/${encodeURIComponent(id)}`)

async function newest(session: Session, id: string): Promise<string> {
  const { phone } = await session.client.json<Phone>('GET', at(session, id))
  const [first] = phone.notifications
  if (!first) throw new Failure(exit.notFound, 'no_notification', `The phone ${printable(id)} shows no notification.`)
  return first.id
}

function changesOf(options: Changes): Record<string, boolean> {
  const changes: Record<string, boolean> = {}
  for (const [field, yes, no] of pairs) {
    if (options[yes] && options[no]) throw new Failure(exit.usage, 'usage', `--${yes} and --${no} exclude each other.`)
    if (options[yes] || options[no]) changes[field] = options[yes] === true
  }
  if (Object.keys(changes).length === 0)
    throw new Failure(exit.usage, 'usage', 'Name at least one change. See `tidings device set --help`.')
  return changes
}

/** The phone in lines: its state, then Live Activities and notifications. */
function screen({ id, is_push_permission_granted: allowed, phone }: Phone): string {
  const states = [
    phone.online ? 'online' : 'offline',
    phone.installed ? '' : 'app uninstalled',
    allowed ? '' : 'push denied',
    phone.held > 0 ? `${counted(phone.held, 'push', 'pushes')} waiting` : ''
  ]
  const cut = (text: string) => printable(shortened(text, 200))
  return [
    `${printable(id)}: ${states.filter(Boolean).join(', ')}`,
    ...phone.activities.map((one) => `  ${cut(one.attributes_type)} ${cut(JSON.stringify(one.state))}`),
    ...phone.notifications.map(
      ({ id: push, title, body }) => `  ${push}  ${cut([title, body].filter(Boolean).join(' · '))}`
    ),
    ...(phone.activities.length + phone.notifications.length === 0 ? ['  No notifications.'] : [])
  ].join('\n')
}

import type { Command } from 'commander'
import type { InboxItem } from '../../wire.ts'
import { events } from '../events.ts'
import { type ListOptions, listing, readAll } from '../listing.ts'
import { amount, counted, printable, shortened } from '../output.ts'
import { type Common, connect, examples, inProject, reaching, type Session, tell } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'

interface Options extends Common, ListOptions {
  device?: string
  watch?: true
}

const usual = 20
const longest = 300

export function declare(command: Command, shell: Shell): void {
  command
    .option('--device <device>', 'Only pushes to this device')
    .option('-w, --watch', 'Keep printing as pushes arrive')
  reaching(listing(command, usual, 'How many of the newest pushes; or "all"'), 'project')
  examples(
    command,
    [
      'tidings inbox',
      'tidings inbox --watch',
      'tidings inbox --device demo-iphone',
      'tidings inbox --watch --json | jq .title'
    ],
    `Shows the pushes that reached the simulated gateways of a project of mode
simulator, the newest last. --json adds the headers and the payload of each
request, and lists the newest first; with --watch it prints a line of JSON for
each push as it arrives.`
  )
  command.action(async (options: Options) => {
    const session = await connect(shell, options)
    if (options.watch) return watch(session, options)
    const page = await readAll<InboxItem>(session, pathIn(session), options, { device_id: options.device })
    tell(session, page, page.items.length > 0 ? page.items.toReversed().map(card).join('\n\n') : nothing(options))
    if (page.next_cursor !== null && !session.json)
      remark(shell, `\nShowing the newest ${amount(page.items.length)}. \`--limit all\` shows all.`)
  })
}

const nothing = ({ device, cursor }: Options): string => {
  if (cursor !== undefined) return 'No older pushes.'
  return device === undefined
    ? 'No pushes yet. Send one with `tidings send --user demo-user --title Hello`.'
    : `No pushes for the device ${printable(device)}.`
}

async function watch(session: Session, options: Options): Promise<void> {
  const { client, shell, json, interrupt } = session
  const show = (item: InboxItem) => print(shell, json ? JSON.stringify(item) : `${card(item)}\n`)
  const query = { device_id: options.device }
  // The stream opens before the list is read, so that no push falls between the two; `seen` removes duplicates.
  const stream = events<InboxItem>(client, pathIn(session), query, interrupt)
  await stream.open()
  const { items } = await readAll<InboxItem>(session, pathIn(session), options, query)
  const seen = new Set(items.map(({ id }) => id))
  for (const item of items.toReversed()) show(item)
  if (!json) remark(shell, 'Waiting for pushes. Ctrl-C stops.\n')
  for await (const item of stream.items()) if (!seen.has(item.id)) show(item)
}

/** A push as a phone would show it, with its gateway and the response. */
function card(item: InboxItem): string {
  const { received_at, gateway, title, body, image_url, landing_url, actions, silent, answer } = item
  const { status, reason, detail } = answer
  const outcome = status === 0 ? `no response (${reason})` : [status, reason].filter(Boolean).join(' ')
  const lines = [
    `${received_at.slice(11, 19)}  ${gateway}  ${printable(receiverOf(item))}  ${outcome}`,
    title && `  ${cut(title)}`,
    body && `  ${cut(body)}`,
    image_url && `  image ${cut(image_url)}`,
    landing_url && `  opens ${cut(landing_url)}`,
    actions && `  ${cut(actions.map((one) => `[${one}]`).join(' '))}`,
    !title && !body && (silent ? '  (silent)' : '  (no text)'),
    detail && `  ${cut(detail)}`
  ]
  return lines.filter(Boolean).join('\n')
}

/** A broadcast goes to all activities of a channel. */
const receiverOf = ({ device_id, activities }: InboxItem): string =>
  activities === undefined
    ? (device_id ?? 'unknown device')
    : `channel (${counted(activities, 'activity', 'activities')})`

const cut = (text: string) => printable(shortened(text, longest))

const pathIn = (session: Session) => inProject(session, '/simulator/inbox')

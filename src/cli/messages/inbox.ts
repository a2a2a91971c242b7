import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { events } from '../events.ts'
import { type ListOptions, listing, type Page, readAll } from '../listing.ts'
import { amount, printable, shortened } from '../output.ts'
import { type Common, connect, examples, reaching, type Session, tell } from '../session.ts'
import { print, remark, type Shell } from '../shell.ts'

interface Item {
  id: string
  received_at: string
  gateway: string
  device_id: string | null
  title: string | null
  body: string | null
  image_url: string | null
  landing_url: string | null
  answer: { status: number; reason: string | null; detail: string | null }
}

interface Options extends Common, ListOptions {
  device?: string
  watch?: true
}

const usual = 20
const longest = 300

export function declare(command: Command, shell: Shell): void {
  command.option('--device <device>', 'Only what was for this device').option('-w, --watch', 'Go on as pushes arrive')
  reaching(listing(command, usual), 'project')
  examples(
    command,
    [
      'tidings inbox',
      'tidings inbox --watch',
      'tidings inbox --device demo-iphone',
      'tidings inbox --watch --json | jq .title'
    ],
    `Shows pushes as they came over the wire to the simulated gateways of a project of
mode simulator. With --watch and --json: one line of JSON for each.`
  )
  command.action(async (options: Options) => {
    const session = await connect(shell, options)
    if (options.watch) return watch(session, options)
    const page = await readAll<Item>(session, pathIn(session), options, { device_id: options.device })
    tell(session, page, page.items.length > 0 ? page.items.toReversed().map(card).join('\n\n') : nothing)
    if (page.next_cursor !== null && !session.json)
      remark(shell, `\nThese are the newest ${amount(page.items.length)}. \`--limit all\` shows the rest.`)
  })
}

const nothing = 'Nothing has arrived yet.'

async function watch(session: Session, options: Options): Promise<void> {
  const { client, shell, json, interrupt } = session
  const show = (item: Item) => print(shell, json ? JSON.stringify(item) : `${card(item)}\n`)
  const query = { device_id: options.device }
  // The stream is open before the list is read, so that nothing falls between the two; what is in both is shown once.
  const stream = events<Item>(client, pathIn(session), query, interrupt)
  await stream.open()
  const { items }: Page<Item> = await readAll<Item>(session, pathIn(session), options, query)
  const seen = new Set(items.map(({ id }) => id))
  for (const item of items.toReversed()) show(item)
  if (!json) remark(shell, 'Waiting for pushes. Ctrl-C stops.\n')
  for await (const item of stream.items()) if (!seen.has(item.id)) show(item)
}

/** As a phone would show it, with what only the wire tells. */
function card({ received_at, gateway, device_id, title, body, image_url, landing_url, answer }: Item): string {
  const { status, reason, detail } = answer
  const told = status === 0 ? `no answer (${reason})` : [status, reason].filter(Boolean).join(' ')
  const lines = [
    `${received_at.slice(11, 19)}  ${gateway}  ${printable(device_id ?? 'unknown device')}  ${told}`,
    title && `  ${cut(title)}`,
    body && `  ${cut(body)}`,
    image_url && `  image ${cut(image_url)}`,
    landing_url && `  opens ${cut(landing_url)}`,
    !title && !body && '  (nothing to show)',
    detail && `  ${cut(detail)}`
  ]
  return lines.filter(Boolean).join('\n')
}

const cut = (text: string) => printable(shortened(text, longest))

const pathIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/simulator/inbox`

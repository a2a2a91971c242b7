import type { IndexedProperty } from '../../wire.ts'
import { segment } from '../client.ts'
import { amount, printable, table } from '../output.ts'
import type { Resource } from '../resource.ts'
import { inProject, tell } from '../session.ts'

interface Options {
  add?: string[]
  remove?: string[]
}

/** Properties by which users are found at once. */
export function declareIndex(users: Resource): void {
  users.verb<Options>(
    {
      usage: 'index',
      about: 'Show or change which properties users are found by at once',
      examples: ['tidings user index', 'tidings user index --add email', 'tidings user index --remove email'],
      more: `A project has at most 10. An index is built in the background; until it is
ready, searches compare all users.`,
      options: (command) =>
        command
          .option('--add <names...>', 'Index these properties')
          .option('--remove <names...>', 'Stop indexing these properties')
    },
    async (session, { add = [], remove = [] }) => {
      const at = (name = '') => inProject(session, `/indexed-properties${name && `/${segment(name)}`}`)
      for (const name of remove) await session.client.remove(at(name))
      for (const name of add) await session.client.send('PUT', at(name))
      const list = await session.client.json<{ items: IndexedProperty[] }>('GET', at())
      const rows = list.items.map((item) => [printable(item.name), stateOf(item)])
      const none = 'No property is indexed. Add one with `tidings user index --add email`.'
      tell(session, list, rows.length > 0 ? table(['property', 'state'], rows) : none)
    }
  )
}

const stateOf = ({ state, visited, about }: IndexedProperty): string =>
  state === 'ready' ? 'ready' : `building: ${amount(visited ?? 0)}${about ? ` of about ${amount(about)}` : ''} users`

import type { Command } from 'commander'
import { segment } from './client.ts'
import { exit, Failure } from './exit.ts'
import { type Columns, type ListOptions, listing, readAll, showList } from './listing.ts'
import { printable } from './output.ts'
import { type Common, connect, examples, inProject, reaching, type Session, tell } from './session.ts'
import type { Shell } from './shell.ts'

/** One kind of thing that commands work on: its name for people, and its path in the API. */
interface Kind {
  name: string
  /** A path below the project or, with `scope: 'installation'`, below /manage/v1. */
  path: string
  scope?: 'project' | 'installation'
  /** The command that lists the existing ones, if it is not `tidings <group> list`. */
  hint?: string
}

interface Verb<Options> {
  /** The word and its arguments: `revoke <id>`. */
  usage: string
  about: string
  examples: readonly string[]
  more?: string
  options?: (command: Command) => unknown
  /** Throws a usage failure before the command looks for a service. */
  check?: (options: Options, ...given: never[]) => void
}

interface List<Row, Options> extends Omit<Verb<Options>, 'usage'> {
  usage?: string
  /** The default of `--limit`; without it the list shows all. */
  usual?: number
  columns: Columns<Row>
  /** The text for an empty list. */
  none: string | ((options: Options) => string)
  /** Filters, as the API names them. */
  query?: (options: Options) => Record<string, string | undefined>
  /** A path below the resource, or below the thing that the first argument names. */
  below?: string
}

const saysNoMore =
  /^Not found\.$|^There is no (such \w+|\w+ of this id|[\w ]+ "[^"]*")\.$|^\w+ "[^"]*" does not exist\.$/

export type Resource = ReturnType<typeof resource>

/** The verbs of one kind of thing: each is a command with the options that reach the service. */
export function resource(group: Command, shell: Shell, { name, path, scope = 'project', hint }: Kind) {
  /** The path of the whole list, or of one thing in it, with a suffix: `/projects/shop/keys/…:rotate`. */
  const at = (session: Session, id?: string, rest = ''): string =>
    `${scope === 'project' ? inProject(session, path) : path}${id === undefined ? '' : `/${segment(id)}`}${rest}`

  function verb<Options = unknown>(
    { usage, about, examples: lines, more, options: add, check }: Verb<Common & Options>,
    run: (session: Session, options: Common & Options, ...given: never[]) => Promise<void>
  ): void {
    const command = group.command(usage).description(about)
    add?.(command)
    reaching(command, scope)
    examples(command, lines, more)
    command.action(async (...given: unknown[]) => {
      // Commander appends the options and the command to the arguments.
      const [options] = given.splice(-2) as [Common & Options]
      const [id] = given as (string | undefined)[]
      check?.(options, ...(given as never[]))
      const session = await connect(shell, options)
      await run(session, options, ...(given as never[])).catch((error: unknown) => {
        throw typeof id === 'string' ? missing(error, id) : error
      })
    })
  }

  /** If the service only responds "not found", names the thing and the command that lists the existing ones. */
  function missing(error: unknown, id: string): unknown {
    if (!(error instanceof Failure) || error.exitCode !== exit.notFound || !saysNoMore.test(error.message)) return error
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const next = hint ?? `List ${name}s with \`tidings ${group.name()} list\`.`
    return new Failure(exit.notFound, error.code, `${title} "${printable(id)}" does not exist. ${next}`)
  }

  return {
    at,
    verb,

    list<Row, Options = unknown>({ usual, columns, none, query, below = '', ...declared }: List<Row, Options>): void {
      const add = (command: Command) => {
        declared.options?.(command)
        listing(command, usual)
      }
      verb<ListOptions & Options>(
        { usage: 'list', ...declared, options: add },
        async (session, options, id?: string) => {
          const page = await readAll<Row>(session, at(session, id, below), options, query?.(options))
          showList(session, page, columns, typeof none === 'string' ? none : none(options))
        }
      )
    },

    show<Item>({ text, ...declared }: Verb<Common> & { text: (item: Item) => string }): void {
      verb(declared, async (session, _, id: string) => {
        const item = await session.client.json<Item>('GET', at(session, id))
        tell(session, item, text(item))
      })
    },

    /** `done` says in one word what happened, for people and as a field of the document: `deleted`, `revoked`. */
    remove({ done, ...declared }: Verb<Common> & { done: string }): void {
      verb(declared, async (session, _, id: string) => {
        await session.client.remove(at(session, id))
        tell(session, { [done]: id }, `${done.charAt(0).toUpperCase()}${done.slice(1)} the ${name} ${id}.`)
      })
    }
  }
}

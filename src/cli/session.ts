import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Client, createClient, segment } from './client.ts'
import { type Connection, findConnection, projectOf, type Where } from './connection.ts'
import { printable } from './output.ts'
import { interruption, print, printJson, remark, type Shell } from './shell.ts'

/** The options of every command on the service. */
export interface Common extends Where {
  json?: true
}

export interface Session {
  shell: Shell
  client: Client
  connection: Connection
  interrupt: AbortSignal
  json: boolean
}

export async function connect(shell: Shell, options: Common): Promise<Session> {
  const connection = await findConnection(options, shell.env)
  const interrupt = interruption(shell)
  const warn = (warning: string) => remark(shell, `Warning: ${printable(warning)}`)
  const client = createClient(connection, interrupt, warn)
  return { shell, client, connection, interrupt, json: options.json === true }
}

/** The path of something in the project of the command: `/projects/shop/keys`. */
export const inProject = ({ connection }: Session, path: string): string =>
  `/projects/${segment(projectOf(connection))}${path}`

/** Prints one JSON document, or text for a person. */
export function tell({ shell, json }: Pick<Session, 'shell' | 'json'>, value: unknown, text: string): void {
  if (json) printJson(shell, value)
  else print(shell, text)
}

export const jsonOption = () => new Option('--json', 'Print one JSON document instead of text')

/** Adds the options that reach the service; with `project` also those that choose one. */
export function reaching(command: Command, scope: 'project' | 'installation' = 'installation'): Command {
  if (scope === 'project') command.option('-p, --project <id>', 'Project (default: TIDINGS_PROJECT)')
  return command
    .option('--url <url>', 'Address of the service (default: TIDINGS_URL)')
    .option('--token <token>', 'Management token (default: TIDINGS_TOKEN, which other users cannot see)')
    .addOption(jsonOption())
}

export const choice = (flags: string, about: string, choices: readonly string[]) =>
  new Option(flags, about).choices(choices)

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
    return number
  }

/** Adds command lines to copy, and facts that the options alone do not show. */
export function examples(command: Command, lines: readonly string[], more = ''): Command {
  const shown = lines.map((line) => `  $ ${line}`).join('\n')
  return command.addHelpText('after', `\nExamples:\n${shown}${more && `\n\n${more.trim()}`}`)
}

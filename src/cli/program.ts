import { Command, CommanderError } from 'commander'
import { OperatorError } from '../platform/errors.ts'
import { version } from '../platform/version.ts'
import { Ended, exit, Failure } from './exit.ts'
import type { Shell } from './shell.ts'

/**
 * Adds the options, the help and the action to a command that so far has a name and a summary. `whole` is the program with
 * all commands.
 */
export type Declare = (command: Command, shell: Shell, whole: () => Promise<Command>) => void

interface Entry {
  summary: string
  /** Loaded only for the command that is run: the service must not wait for code it does not need. */
  load: () => Promise<{ declare: Declare }>
}

const commands: Record<string, Entry> = {
  serve: { summary: 'Run the service', load: () => import('./service/serve.ts') },
  migrate: { summary: 'Bring the database up to date and exit', load: () => import('./database/migrate.ts') },
  doctor: { summary: 'Look for what would keep the service from running', load: () => import('./doctor/doctor.ts') },
  project: {
    summary: 'Create, list, show, update, pause and delete projects',
    load: () => import('./projects/project.ts')
  },
  key: {
    summary: 'Create, list, rotate and revoke the API keys of a project',
    load: () => import('./projects/key.ts')
  },
  console: {
    summary: 'Print a link that signs a browser in to the console',
    load: () => import('./service/console.ts')
  },
  token: { summary: 'Create, list and revoke management tokens', load: () => import('./projects/token.ts') },
  gateway: {
    summary: 'Set, list, check and remove credentials for Apple, Google and browsers',
    load: () => import('./messages/gateway.ts')
  },
  user: {
    summary: 'Get, set, unset, delete, list, import and export users',
    load: () => import('./users/user.ts')
  },
  device: { summary: 'List, show and delete devices, add simulated ones', load: () => import('./users/device.ts') },
  send: { summary: 'Send one push to a user or a device', load: () => import('./messages/send.ts') },
  message: {
    summary: 'List messages, and show one with its results',
    load: () => import('./messages/message.ts')
  },
  event: { summary: 'List the events of users', load: () => import('./users/event.ts') },
  inbox: { summary: 'See what arrived at the simulated gateways', load: () => import('./messages/inbox.ts') },
  webhook: {
    summary: 'Tell others what became of messages, and see the calls',
    load: () => import('./messages/webhook.ts')
  },
  campaign: {
    summary: 'Apply, compare, preview, test, pause and trigger campaigns',
    load: () => import('./campaigns/campaign.ts')
  },
  trigger: {
    summary: 'List, get, watch, cancel and explain triggers of campaigns',
    load: () => import('./campaigns/trigger.ts')
  },
  audit: { summary: 'See who changed what in a project', load: () => import('./projects/audit.ts') },
  nodes: { summary: 'See which processes are at work', load: () => import('./service/nodes.ts') },
  job: { summary: 'See background work that was given up, and run it again', load: () => import('./service/job.ts') },
  copy: { summary: 'Copy everything to another PostgreSQL', load: () => import('./database/copy.ts') },
  secrets: { summary: 'Change the master key', load: () => import('./database/secrets.ts') },
  simulate: {
    summary: 'Run stand-ins for APNs, FCM and Web Push',
    load: () => import('./service/simulate.ts')
  },
  completion: {
    summary: 'Print the completion of commands for bash or zsh',
    load: () => import('./service/completion.ts')
  }
}

const afterHelp = `
Start here:
  $ tidings serve                       run the service, here, now
  $ tidings user set ana plan=premium   create a user in the project it made
  $ tidings help user                   read more about one command

The service is found by --url and --token, else by TIDINGS_URL and
TIDINGS_TOKEN, else by DATA_DIR/credentials.json, which \`tidings serve\` writes
(DATA_DIR is ./data unless set).

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed,
5 service away, 78 wrong settings, 130 interrupted.`

/** Every command with its options, for what must know them all. */
async function wholeProgram(shell: Shell): Promise<Command> {
  const program = new Command('tidings').version(version)
  for (const [name, { summary, load }] of Object.entries(commands))
    (await load()).declare(program.command(name).description(summary), shell, async () => program)
  return program
}

/** Runs one command line and answers the exit code. */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const program = new Command('tidings')
    .description('Tidings: self-hosted messaging and user service.')
    .usage('<command> [options]')
    .version(version, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand('help [command]', 'Print the help of a command')
    .addHelpText('after', afterHelp)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      // Reported below, with everything else that goes wrong.
      outputError: () => {}
    })
  const operands = argv.filter((argument) => !argument.startsWith('-'))
  const wanted = operands[0] === 'help' ? operands[1] : operands[0]
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).description(summary).helpOption('-h, --help', 'Print this help')
    if (name === wanted) (await load()).declare(command, shell, () => wholeProgram(shell))
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exit.ok
  } catch (error) {
    return report(error, shell, { json: argv.includes('--json'), help: helpFor(program, operands) })
  }
}

/** The command line that explains what was got wrong. */
function helpFor(program: Command, [first, second]: readonly string[]): string {
  const group = program.commands.find((command) => command.name() === first)
  const leaf = group?.commands.find((command) => command.name() === second)
  return ['tidings', group?.name(), leaf?.name(), '--help'].filter(Boolean).join(' ')
}

function report(error: unknown, shell: Shell, { json, help }: { json: boolean; help: string }): number {
  if (error instanceof Ended) return error.exitCode
  const failure = error instanceof CommanderError ? asUsage(error, help) : error
  if (failure === undefined) return exit.ok
  if (failure === exit.usage) return exit.usage
  if (!(failure instanceof OperatorError)) throw failure
  const unnamed = { code: failure.exitCode === exit.configuration ? 'configuration' : 'failed', details: [] }
  const { code, details } = failure instanceof Failure ? failure : unnamed
  const told = json
    ? JSON.stringify({ error: failure.message, code, ...(details.length > 0 && { details }) })
    : failure.message
  shell.stderr.write(`${told}\n`)
  return failure.exitCode
}

/** Commander's own words as ours. Help and version are no faults; help in the place of a missing command is. */
function asUsage(error: CommanderError, help: string): Failure | typeof exit.usage | undefined {
  if (error.exitCode === 0) return undefined
  if (error.code === 'commander.help') return exit.usage
  const text = error.message.replace(/^error: /, '')
  const [first = '', ...rest] = text.split('\n')
  const hint = rest
    .join(' ')
    .replace(/^\((.*)\)$/, '$1')
    .trim()
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/([^.?!])$/, '$1.')
  return new Failure(exit.usage, 'usage', [sentence, hint, `See \`${help}\`.`].filter(Boolean).join(' '))
}

import { Command, CommanderError } from 'commander'
import { OperatorError } from '../platform/errors.ts'
import { version } from '../platform/version.ts'
import { Ended, exit, Failure, usageFailure } from './exit.ts'
import { insteadOf, optionFor } from './hints.ts'
import { printable } from './output.ts'
import type { Shell } from './shell.ts'

/**
 * Adds the options, the help and the action to a command that has a name and a summary. `whole` returns the program with
 * all commands.
 */
export type Declare = (command: Command, shell: Shell, whole: () => Promise<Command>) => void

interface Entry {
  summary: string
  /** Loaded only for the command that runs, so that no start waits for code it does not need. */
  load: () => Promise<{ declare: Declare }>
}

const commands: Record<string, Entry> = {
  serve: { summary: 'Run the service', load: () => import('./service/serve.ts') },
  migrate: { summary: 'Bring the database up to date and exit', load: () => import('./database/migrate.ts') },
  upgrade: {
    summary: 'Say how to upgrade, and what an upgrade would do',
    load: () => import('./upgrade/upgrade.ts')
  },
  doctor: { summary: 'Find problems that keep the service from running', load: () => import('./doctor/doctor.ts') },
  project: {
    summary: 'Create, list, show, update, pause and delete projects',
    load: () => import('./projects/project.ts')
  },
  key: {
    summary: 'Create, list, rotate and revoke the API keys of a project, and set their policies',
    load: () => import('./projects/key.ts')
  },
  console: {
    summary: 'Print a link that signs a browser in to the console',
    load: () => import('./service/console.ts')
  },
  token: { summary: 'Create, list and revoke management tokens', load: () => import('./projects/token.ts') },
  member: {
    summary: 'Invite people, list them, change their roles, reset passwords and remove them',
    load: () => import('./people/member.ts')
  },
  session: {
    summary: 'List and end sessions of signed-in browsers',
    load: () => import('./people/session.ts')
  },
  gateway: {
    summary: 'Set, list, check and remove credentials for Apple, Google and browsers',
    load: () => import('./messages/gateway.ts')
  },
  topic: {
    summary: 'List, apply and delete the topics that users can refuse',
    load: () => import('./projects/topic.ts')
  },
  user: {
    summary: 'Get, set, unset, delete, list, import and export users, their preferences and journeys',
    load: () => import('./users/user.ts')
  },
  import: {
    summary: 'Move users, devices and push tokens in from a file or another service',
    load: () => import('./import/import.ts')
  },
  translate: {
    summary: 'Translate segments, messages and Liquid of OneSignal and Braze',
    load: () => import('./translate/translate.ts')
  },
  device: {
    summary: 'List, show and delete devices, add and use simulated ones',
    load: () => import('./users/device.ts')
  },
  send: { summary: 'Send one push to a user or a device', load: () => import('./messages/send.ts') },
  message: {
    summary: 'List messages, show one with its outcomes, and cancel one that waits',
    load: () => import('./messages/message.ts')
  },
  event: { summary: 'List the events of users', load: () => import('./users/event.ts') },
  inbox: { summary: 'Show the pushes at the simulated gateways', load: () => import('./messages/inbox.ts') },
  'activity-channel': {
    summary: 'Create, list, update, end and delete broadcast channels of Live Activities',
    load: () => import('./messages/activity-channel.ts')
  },
  webhook: {
    summary: 'Manage webhooks and their deliveries',
    load: () => import('./messages/webhook.ts')
  },
  campaign: {
    summary: 'Check, apply, compare, pull, preview, test, pause and trigger campaigns',
    load: () => import('./campaigns/campaign.ts')
  },
  stats: {
    summary: 'Show what came of everything that a project sent',
    load: () => import('./campaigns/project-stats.ts')
  },
  segment: {
    summary: 'List, show, apply, delete and count saved segments',
    load: () => import('./campaigns/segment.ts')
  },
  trigger: {
    summary: 'List, get, watch, cancel and explain triggers of campaigns',
    load: () => import('./campaigns/trigger.ts')
  },
  agent: {
    summary: 'Do what agents do: one command for each skill',
    load: () => import('./agents/agent.ts')
  },
  approval: {
    summary: 'List, show, approve and reject actions of agents that wait for a person',
    load: () => import('./agents/approval.ts')
  },
  audit: { summary: 'List the changes in a project', load: () => import('./projects/audit.ts') },
  top: { summary: 'Watch what the service does, live', load: () => import('./top/top.ts') },
  nodes: { summary: 'List the running nodes', load: () => import('./service/nodes.ts') },
  mcp: { summary: 'Serve MCP to an agent on standard input and output', load: () => import('./mcp/mcp.ts') },
  job: { summary: 'List dead jobs, and run them again', load: () => import('./service/job.ts') },
  backup: {
    summary: 'Write everything to one file, while the service runs',
    load: () => import('./database/backup.ts')
  },
  restore: { summary: 'Restore a backup, or check one', load: () => import('./database/restore.ts') },
  resume: { summary: 'Let a restored installation send again', load: () => import('./database/resume.ts') },
  copy: { summary: 'Copy everything to another PostgreSQL', load: () => import('./database/copy.ts') },
  db: { summary: 'Spread the database over several servers with Citus', load: () => import('./database/db.ts') },
  secrets: {
    summary: 'Change the master key, or remove secrets of a lost one',
    load: () => import('./database/secrets.ts')
  },
  simulate: {
    summary: 'Run simulators of APNs, FCM and Web Push',
    load: () => import('./service/simulate.ts')
  },
  completion: {
    summary: 'Print the completion script for bash or zsh',
    load: () => import('./service/completion.ts')
  }
}

const afterHelp = `
Start here:
  $ tidings serve                       run the service
  $ tidings user set ana plan=premium   create a user in the first project
  $ tidings help user                   read more about one command

Commands find the service by --url and --token, else by TIDINGS_URL and
TIDINGS_TOKEN, else by DATA_DIR/credentials.json, which \`tidings serve\` writes
(DATA_DIR is ./data by default).

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed,
5 service not available, 78 wrong settings, 130 interrupted.`

/** The program with every command loaded, for the completion scripts and the docs. */
export async function wholeProgram(shell: Shell): Promise<Command> {
  const program = new Command('tidings').version(version)
  for (const [name, { summary, load }] of Object.entries(commands))
    (await load()).declare(program.command(name).description(summary), shell, async () => program)
  return program
}

/** Runs one command line and returns the exit code. */
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
      // report() prints it, like every other failure.
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
    return report(error, shell, { json: argv.includes('--json'), operands, ...located(program, operands) })
  }
}

/** Where a command line went wrong. */
interface Located {
  command: Command | undefined
  /** The command line that prints the help for it. */
  help: string
}

function located(program: Command, [first, second]: readonly string[]): Located {
  const group = program.commands.find((command) => command.name() === first)
  const leaf = group?.commands.find((command) => command.name() === second)
  return { command: leaf ?? group, help: ['tidings', group?.name(), leaf?.name(), '--help'].filter(Boolean).join(' ') }
}

type Given = Located & { json: boolean; operands: readonly string[] }

function report(error: unknown, shell: Shell, { json, ...given }: Given): number {
  if (error instanceof Ended) return error.exitCode
  const failure = error instanceof CommanderError ? asUsage(error, given) : error
  if (failure === undefined) return exit.ok
  if (failure === exit.usage) return exit.usage
  if (!(failure instanceof OperatorError)) throw failure
  const unnamed = { code: failure.exitCode === exit.configuration ? 'configuration' : 'failed', details: [] }
  const { code, details } = failure instanceof Failure ? failure : unnamed
  const text = json
    ? JSON.stringify({ error: failure.message, code, ...(details.length > 0 && { details }) })
    : failure.message.split('\n').map(printable).join('\n')
  shell.stderr.write(`${text}\n`)
  return failure.exitCode
}

/** Turns an error of Commander into a failure. Help and version are none; help for a missing command is wrong usage. */
function asUsage(
  error: CommanderError,
  { operands, command, help }: Omit<Given, 'json'>
): Failure | typeof exit.usage | undefined {
  if (error.exitCode === 0) return undefined
  if (error.code === 'commander.help') return exit.usage
  const instead = insteadOf(error, operands)
  if (instead) return usageFailure(instead)
  const text = error.message.replace(/^error: /, '')
  const [first = '', ...rest] = text.split('\n')
  const near = rest
    .join(' ')
    .replace(/^\((.*)\)$/, '$1')
    .trim()
  const hint = optionFor(error, command) ?? near
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/([^.?!])$/, '$1.')
  return new Failure(exit.usage, 'usage', [sentence, hint, `See \`${help}\`.`].filter(Boolean).join(' '))
}

import type { Command, Option } from 'commander'
import { wholeProgram } from './program.ts'
import type { Shell } from './shell.ts'

/** Options of almost every command; docs/reference/cli.md explains them once. */
const common = new Set(['--help', '--json', '--url', '--token', '--project'])

/** Prints docs/reference/commands.md; a test compares the two. */
export async function printCommandDocs(): Promise<string> {
  // Declaring commands touches no part of the shell; only running them does.
  const program = await wholeProgram({} as Shell)
  const commands = leavesOf(program)
  return `# Commands

This page lists every command of \`tidings\` with its options and examples. \`tidings <command> --help\` prints the same. The
[command line](cli.md) page has what all commands share: how they find the service, their output, \`--json\`, and exit codes.

| Command | Does |
|---|---|
${commands.map((command) => `| [\`${nameOf(command)}\`](#${anchorOf(command)}) | ${command.description()} |`).join('\n')}

${commands.map(sectionOf).join('\n\n')}

\`npm run docs\` prints this page from \`src/cli/\`.
`
}

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()

const anchorOf = (command: Command) => nameOf(command).replaceAll(' ', '-')

function sectionOf(command: Command): string {
  const options = command.options.filter(({ long, hidden }) => !hidden && !common.has(long ?? ''))
  const { examples, remark } = afterHelp(command)
  const parts = [
    `## ${nameOf(command)}`,
    `${command.description()}. Usage: \`${nameOf(command)} ${command.usage()}\`.`,
    options.length > 0 && `| Option | Meaning |\n|---|---|\n${options.map(rowOf).join('\n')}`,
    examples.length > 0 && `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    remark
  ]
  return parts.filter(Boolean).join('\n\n')
}

function rowOf({ flags, description, argChoices, defaultValue }: Option): string {
  const more = [
    argChoices && `one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`,
    defaultValue !== undefined && `default \`${defaultValue}\``
  ].filter(Boolean)
  const cell = `${description}${more.length > 0 ? ` (${more.join('; ')})` : ''}`
  return `| \`${flags}\` | ${cell.replaceAll('|', '\\|')} |`
}

/** Commander keeps the examples only as text that follows the help. */
function afterHelp(command: Command): { examples: string[]; remark: string } {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => void written.push(text) })
  command.outputHelp()
  const [, after = ''] = written.join('').split('\nExamples:\n')
  const lines = after.replaceAll(/\\\n\s*/g, '').split('\n')
  const examples = lines.filter((line) => line.startsWith('  $ ')).map((line) => line.slice(4))
  return {
    examples,
    remark: lines
      .filter((line) => !line.startsWith('  $ '))
      .join('\n')
      .trim()
  }
}

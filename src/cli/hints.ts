import type { Command, CommanderError } from 'commander'

/** Words of other programs for what has another name here. */
const otherwise: Record<string, (id: string) => string> = {
  'campaign delete': (id) => `Campaigns are archived: tidings campaign archive ${id}.`
}

/** What to say of a command that does not exist, if the nearest spelling would mislead. */
export const insteadOf = ({ code }: CommanderError, [group, verb, id]: readonly string[]): string | undefined =>
  code === 'commander.unknownCommand' ? otherwise[`${group} ${verb}`]?.(id ?? '<campaign>') : undefined

/** Most commands call it `--user`. Those of agents have the names of their fields, of which `--user-id` is the nearest. */
export const optionFor = ({ code, message }: CommanderError, command: Command | undefined): string | undefined =>
  code === 'commander.unknownOption' &&
  message.includes("'--user'") &&
  command?.options.some(({ long }) => long === '--project-user-id')
    ? 'Did you mean --project-user-id?'
    : undefined

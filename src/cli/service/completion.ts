import type { Command } from 'commander'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { bashScript, placesOf, zshScript } from './completion-scripts.ts'

const scripts = { bash: bashScript, zsh: zshScript }

export function declare(command: Command, shell: Shell, whole: () => Promise<Command>): void {
  command.addArgument(command.createArgument('<shell>', 'Shell').choices(Object.keys(scripts)))
  command.addOption(jsonOption())
  examples(
    command,
    ['source <(tidings completion bash)', 'tidings completion zsh > ~/.zfunc/_tidings'],
    `For bash, add the first line to ~/.bashrc. For zsh, write the file to a folder
of your $fpath. Then start a new shell.`
  )
  command.action(async (name: keyof typeof scripts, options: { json?: true }) => {
    const script = scripts[name](placesOf(await whole()))
    tell({ shell, json: options.json === true }, { shell: name, script }, script.trimEnd())
  })
}

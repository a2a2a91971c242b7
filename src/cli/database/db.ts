import type { Command } from 'commander'
import { examples } from '../session.ts'
import type { Shell } from '../shell.ts'
import { declareDistribute } from './distribute.ts'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings db distribute'])
  declareDistribute(command.command('distribute'), shell)
}

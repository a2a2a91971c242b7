import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { exit, Failure } from '../exit.ts'
import { counted, printable, reason } from '../output.ts'
import { resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Imported {
  result: string
  version: number
  changed: number
  warnings: string[]
}

/** Texts of a campaign on their way to translators and back. */
export function declareTexts(parent: Command, shell: Shell): void {
  const command = parent.command('texts').description('Export texts for translators, and import their translations')
  examples(command, [
    'tidings campaign texts export welcome --language fr > welcome.csv',
    'tidings campaign texts import welcome welcome.csv'
  ])
  const campaigns = resource(command, shell, {
    name: 'campaign',
    path: '/campaigns',
    hint: 'List campaigns with `tidings campaign list`.'
  })
  campaigns.verb<{ format?: string; language?: string[] }>(
    {
      usage: 'export <campaign>',
      about: 'Print the texts of a campaign, with the translations it has',
      examples: [
        'tidings campaign texts export welcome > welcome.csv',
        'tidings campaign texts export welcome --format xliff --language fr --language pt-BR > welcome.xlf'
      ],
      options: (one) =>
        one
          .addOption(choice('--format <format>', 'csv (default), or xliff: XLIFF 1.2', ['csv', 'xliff']))
          .option('--language <tag>', 'A further language to translate into; may be repeated', several)
    },
    async (session, { format, language }, id: string) => {
      const query = { format, languages: language?.join(',') }
      const response = await session.client.send('GET', campaigns.at(session, id, '/texts'), { query })
      // As bytes: reading it as text would drop the mark by which spreadsheets know UTF-8.
      session.shell.stdout.write(Buffer.from(await response.arrayBuffer()))
    }
  )
  campaigns.verb<{ format?: string }>(
    {
      usage: 'import <campaign> <file>',
      about: 'Save the translations of a file; - is standard input',
      examples: [
        'tidings campaign texts import welcome welcome.csv',
        'tidings campaign texts import welcome welcome.xlf'
      ],
      more: 'A file whose source texts have changed since its export is refused.'
    },
    async (session, _, id: string, file: string) => {
      const lines = new Uint8Array(await bytesOf(session.shell, file))
      const saved = await session.client
        .send('PUT', campaigns.at(session, id, '/texts'), { lines, headers: { 'content-type': 'text/plain' } })
        .then((response) => response.json() as Promise<Imported>)
      const text = `${printable(id)} ${saved.result}, version ${saved.version}: ${counted(saved.changed, 'new text')}`
      tell(session, saved, text)
      if (!session.json) for (const warning of saved.warnings) remark(session.shell, `${printable(id)}: ${warning}`)
    }
  )
}

const several = (value: string, before: string[] = []) => [...before, value]

const bytesOf = (shell: Shell, file: string): Promise<Buffer> =>
  file === '-'
    ? buffer(shell.stdin)
    : readFile(file).catch((error: unknown) => {
        throw new Failure(exit.failure, 'unreadable', `${file} cannot be read: ${reason(error)}.`)
      })

import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readJson } from '../../platform/json/names.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { printable, reason } from '../output.ts'
import { examples, jsonOption } from '../session.ts'
import { printJson, remark, type Shell } from '../shell.ts'

const services = [
  ['onesignal', 'Translate segments (`filters`), messages and Liquid of OneSignal'],
  ['braze', 'Translate audiences, messages and Liquid of Braze']
] as const

/** Translates on this machine: it needs no service. */
export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings translate onesignal segments.json > segments.yaml',
    'tidings translate braze campaign.json > campaigns/campaign.yaml'
  ])
  for (const [service, about] of services) {
    const verb = command.command(`${service} <file>`).description(about).addOption(jsonOption())
    examples(
      verb,
      [
        `tidings translate ${service} campaign.json > campaigns/campaign.yaml`,
        `tidings translate ${service} - < title.liquid`
      ],
      `JSON becomes campaigns (drafts) or saved segments as YAML, which \`tidings campaign
apply\` and \`tidings segment apply\` take; any other text is translated as a
template. Everything that has no counterpart is listed, and a condition without
one becomes \`any: []\`, which matches no one. Ends with 1 if there is any.`
    )
    verb.action((file: string, options: { json?: true }) => translate(shell, service, file, options.json === true))
  }
}

async function translate(shell: Shell, service: 'onesignal' | 'braze', file: string, json: boolean): Promise<void> {
  const source = await (file === '-' ? text(shell.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new Failure(exit.failure, 'unreadable', `${file} cannot be read: ${reason(error)}.`)
  })
  const [{ translateJson, translateText }, { stringify }] = await Promise.all([
    import('./documents.ts'),
    import('yaml')
  ])
  const value = parsed(source)
  const items = value === undefined ? [translateText(service, source)] : translateJson(service, value)
  const told = items.flatMap((item) => ('notes' in item ? item.notes : []))
  const problems = items.flatMap((item) => item.problems)
  if (json) printJson(shell, { items })
  else {
    const texts = items.map((item) => ('text' in item ? item.text : stringify(item.document, { lineWidth: 0 })))
    shell.stdout.write(texts.join('---\n'))
    for (const note of new Set(told)) remark(shell, `Note: ${printable(note)}`)
    if (problems.length > 0) remark(shell, 'Not translated:')
    for (const problem of problems) remark(shell, `  ${printable(problem)}`)
  }
  if (problems.length > 0) throw new Ended(exit.failure)
}

/** A text that is not JSON is a template. */
function parsed(source: string): unknown {
  if (!/^\s*[[{](?![{%])/.test(source)) return undefined
  try {
    return readJson(source)
  } catch (error) {
    throw new Failure(exit.failure, 'invalid_file', `The file is not JSON: ${(error as Error).message}.`)
  }
}

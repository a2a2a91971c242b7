import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readJson } from '../../platform/json/names.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { reason } from '../output.ts'
import { jsonProperty, parsedProperties, textProperty, triggerPropertyHelp } from '../properties.ts'
import type { Shell } from '../shell.ts'

export interface RequestOptions {
  user?: string[]
  usersFrom?: string
  targetsFrom?: string
  device?: string[]
  broadcast?: true
  property?: [string, unknown][]
  string?: [string, string][]
  properties?: string
  sendAt?: string
}

export const several = (argument: string, before: string[] = []) => [...before, argument]

export const propertyNote = triggerPropertyHelp.trim()

/** Adds `--property`, `--string` and `--properties`: the values that templates and conditions read as `trigger.*`. */
export const withProperties = (command: Command): Command =>
  command
    .option(
      '--property <name=value>',
      'A property for templates; may be repeated',
      (argument: string, before: [string, unknown][] = []) => [...before, jsonProperty(argument)]
    )
    .option(
      '--string <name=value>',
      'A property whose value is always text; may be repeated',
      (argument: string, before: [string, string][] = []) => [...before, textProperty(argument)]
    )
    .option('--properties <json>', 'All properties as one JSON object')

/** Adds the options for the audience and the properties of a trigger. */
export const withAudience = (command: Command): Command =>
  withProperties(
    command
      .option('--user <user>', 'A user, by project_user_id; may be repeated', several)
      .option('--users-from <file>', 'A file of users, one a line; - is standard input')
      .option(
        '--targets-from <file>',
        'A file of targets, one JSON object a line: {"project_user_id": "ana", "properties": {"code": "A1"}}'
      )
      .option('--device <device>', 'A device; may be repeated', several)
      .option('--broadcast', 'Everyone in the segment of the campaign')
  )

export const propertiesOf = ({ property = [], string = [], properties }: RequestOptions): Record<string, unknown> => ({
  ...(properties !== undefined && parsedProperties(properties)),
  ...Object.fromEntries([...property, ...string])
})

/** The body of a trigger. */
export async function requestOf(shell: Shell, options: RequestOptions): Promise<Record<string, unknown>> {
  const { user = [], usersFrom, targetsFrom, device = [], broadcast } = options
  const fromFile = usersFrom !== undefined || targetsFrom !== undefined
  if (broadcast && (user.length + device.length > 0 || fromFile))
    throw usageFailure('Give either --broadcast, or users and devices.')
  const listed = usersFrom === undefined ? [] : await linesOf(shell, usersFrom)
  const targets = [
    ...(targetsFrom === undefined ? [] : await targetsIn(shell, targetsFrom)),
    ...[...user, ...listed].map((project_user_id) => ({ project_user_id })),
    ...device.map((device_id) => ({ device_id }))
  ]
  // An empty file means no recipients; the default audience would be a surprise.
  const named = targets.length > 0 || fromFile
  const audience = broadcast ? { broadcast } : named ? { targets } : undefined
  return {
    ...(audience && { audience }),
    properties: propertiesOf(options),
    ...(options.sendAt !== undefined && { send_at: options.sendAt })
  }
}

async function targetsIn(shell: Shell, file: string): Promise<unknown[]> {
  return (await linesOf(shell, file)).map((line, index) => {
    try {
      return readJson(line) as unknown
    } catch {
      throw new Failure(exit.failure, 'invalid_file', `${file}: line ${index + 1} is not JSON.`)
    }
  })
}

async function linesOf(shell: Shell, file: string): Promise<string[]> {
  const source = await (file === '-' ? text(shell.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new Failure(exit.failure, 'invalid_file', `${file} cannot be read: ${reason(error)}.`)
  })
  return source.split(/\r?\n/).filter((line) => line.trim() !== '')
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Action, FieldSchema } from '../../a2a/skills/registry.ts'
import { readJson } from '../../platform/json/names.ts'
import { jsonProperty } from '../properties.ts'
import { wholeNumber } from '../session.ts'

type Fields = Record<string, unknown>

/** The fields that a caller may give: all but the name of the skill. */
const fieldsOf = ({ input }: Action) => Object.entries(input.properties).filter(([name]) => name !== 'skill')

export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** Adds an option for each field of an action. */
export function addFields(command: Command, action: Action): void {
  for (const [name, schema] of fieldsOf(action)) {
    const option = optionOf(name, schema)
    command.addOption(option.makeOptionMandatory(action.input.required?.includes(name) === true))
  }
}

/** The fields among the options of a command. */
export const givenFields = (action: Action, options: Fields): Fields =>
  Object.fromEntries(fieldsOf(action).flatMap(([name]) => (options[name] === undefined ? [] : [[name, options[name]]])))

function optionOf(name: string, { type, description = '', minimum, maximum }: FieldSchema): Option {
  const flag = flagOf(name)
  // Without the full stop, like the descriptions of other options.
  const about = description.replace(/\.$/, '')
  if (type === 'boolean') return new Option(flag, about)
  if (type === 'integer')
    return new Option(`${flag} <number>`, about).argParser(
      wholeNumber(Number(minimum ?? 0), Number(maximum ?? Number.MAX_SAFE_INTEGER))
    )
  if (type === 'string') return new Option(`${flag} <text>`, about)
  if (Array.isArray(type))
    return new Option(`${flag} <value>`, about).argParser((text) => jsonProperty(`${name}=${text}`)[1])
  return new Option(`${flag} <json>`, about).argParser(asJson)
}

function asJson(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    throw new InvalidArgumentError('It must be JSON.')
  }
}

/** The command line that gives the fields of an example. */
export function lineOf({ id, example }: Action): string {
  const { skill: _, ...fields } = example
  const words = Object.entries(fields).map(([name, value]) =>
    value === true
      ? flagOf(name)
      : `${flagOf(name)} ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`
  )
  return ['tidings agent', id, ...words].join(' ')
}

const quoted = (text: string) => (/^[\w.@:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

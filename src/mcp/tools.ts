import type { Tool } from '@modelcontextprotocol/server'
import type { Action } from '../a2a/a2a.ts'
import type { ApiCaller } from '../projects/projects.ts'

/** Says which action this is, so that a repeat has no second effect. A tool call has no id of its own that would last. */
const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'A text of your choice for this action. A call with the same key and arguments has no second effect: it returns what became of the first.'
}

/** Whether the policy of the caller's key allows a skill at all. Every call is judged again, with its fields. */
export const mayUse = ({ key }: ApiCaller, skill: string): boolean => key?.policy?.skills?.includes(skill) ?? true

/** The tool that stands for an action: same name, same fields, and the data of its artifact as the result. */
export function toolOf({ id, name, description, effect, input, output }: Action): Tool {
  const { skill: _, ...properties } = input.properties
  const tool = {
    name: id,
    title: name,
    description: [description, ...groupsIn(input).map(groupText), ...(effect === 'send' ? [reachesPeople] : [])].join(
      ' '
    ),
    inputSchema: {
      type: 'object',
      properties: { ...properties, ...(effect !== 'read' && { idempotencyKey }) },
      required: input.required?.filter((field) => field !== 'skill') ?? []
    },
    outputSchema: output,
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'send' || effect === 'stop',
      idempotentHint: effect === 'read',
      openWorldHint: effect === 'send'
    }
  }
  // Plain JSON: the schemas of actions also hold symbols.
  return JSON.parse(JSON.stringify(tool)) as Tool
}

/** The groups of fields of which one must be given. */
const groupsIn = ({ allOf = [] }: Action['input']): string[][] =>
  (allOf as { anyOf: { required: string[] }[] }[]).map(({ anyOf }) => anyOf.flatMap(({ required }) => required))

/** In words, because the providers of models refuse tools whose schema has alternatives at its top. */
const groupText = (group: string[]) => `Give at least one of ${group.join(', ')}.`

const reachesPeople = 'Reaches people, and cannot be taken back.'

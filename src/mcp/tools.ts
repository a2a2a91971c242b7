import type { Tool } from '@modelcontextprotocol/server'
import type { Skill, Skills } from '../a2a/a2a.ts'
import type { ApiCaller } from '../projects/projects.ts'

interface ObjectSchema {
  properties: Record<string, object>
  required?: string[]
}

/** Says which call this is, so that a repeat has no second effect. A tool call has no id of its own that would last. */
const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'A text of your choice for this action. A call with the same key and arguments has no second effect: it returns what became of the first.'
}

/** Whether the policy of the caller's key allows a skill at all. Every call is judged again, with its fields. */
export const mayUse = ({ key }: ApiCaller, skill: string): boolean => key?.policy?.skills?.includes(skill) ?? true

/** The skills as tools: same names, fields and results. */
export const toolsOf = (skills: Skills): Tool[] => [...skills.values()].map(toolOf)

function toolOf({ id, name, description, effect, schema, output, oneOf = [] }: Skill): Tool {
  const { properties: all, required = [] } = schema as unknown as ObjectSchema
  const { skill: _, ...properties } = all
  // Plain JSON: the schemas also have symbols, and what they share must not be shared with a writer.
  const tool = {
    name: id,
    title: name,
    description: [description, ...oneOf.map(oneOfText), ...(effect === 'send' ? [reachesPeople] : [])].join(' '),
    inputSchema: {
      type: 'object',
      properties: { ...properties, ...(effect !== 'read' && { idempotencyKey }) },
      required: required.filter((field) => field !== 'skill')
    },
    outputSchema: output,
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'send' || effect === 'stop',
      idempotentHint: effect === 'read',
      openWorldHint: effect === 'send'
    }
  }
  return JSON.parse(JSON.stringify(tool)) as Tool
}

/** In words: the providers of models refuse tools whose schema has alternatives at its top. */
const oneOfText = (group: readonly string[]) => `Give at least one of ${group.join(', ')}.`

const reachesPeople = 'Reaches people, and cannot be taken back.'

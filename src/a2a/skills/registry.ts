import type { Effect, Skill } from './skill.ts'
import { describedSkills, skillSchemas } from './skills.ts'

/** An action as other surfaces and readers see it: everything about a skill but its code. */
export interface Action {
  id: string
  name: string
  description: string
  effect: Effect
  /** The name of its artifact. */
  artifact: string
  /** The routes of /api/v1 that do the same. */
  rest: readonly string[]
  /** An example of the data that asks for it. */
  example: Record<string, unknown>
  /** Texts that ask for it. */
  examples: readonly string[]
  /** JSON Schemas of the request's data and of the artifact's data. */
  input: ObjectSchema
  output: ObjectSchema
}

/** A JSON Schema of an object. */
export interface ObjectSchema {
  type: 'object'
  properties: Record<string, FieldSchema>
  required?: string[]
  [more: string]: unknown
}

export interface FieldSchema {
  type?: string | string[]
  description?: string
  const?: unknown
  [more: string]: unknown
}

/** All actions, those of the contract first. MCP, the command line, the console and the docs are derived from these. */
export function listActions(): Action[] {
  const skills = describedSkills()
  const inputs = skillSchemas(skills)
  return [...skills.values()].map((skill) => actionOf(skill, inputs[skill.id]))
}

const actionOf = (
  { id, name, description, effect, artifact, rest, example, examples, output }: Skill,
  input: unknown
): Action => ({
  id,
  name,
  description,
  effect,
  artifact: artifact!.name,
  rest,
  example,
  examples,
  input: input as ObjectSchema,
  output: output as unknown as ObjectSchema
})

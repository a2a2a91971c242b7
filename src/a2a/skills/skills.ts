import type { SkillText } from '../text/skill-text.ts'
import type { Capabilities } from './capabilities.ts'
import type { Skill } from './skill.ts'
import { table } from './table.ts'

/** The skills by id. The card, the check of requests and the reading of texts take them from here. */
export type Skills = ReadonlyMap<string, Skill>

export const createSkills = (does: Capabilities, more: Skill[] = []): Skills =>
  new Map([...table.map((make) => make(does)), ...more].map((skill) => [skill.id, skill]))

/** The skills for docs and tests, which read their descriptions and run none. */
export const describedSkills = (): Skills => createSkills({} as Capabilities)

/** The skills as a card lists them. */
export const onCard = (skills: Iterable<Skill>) =>
  [...skills].map(({ id, name, description, tags, examples }) => ({ id, name, description, tags, examples }))

/** How texts ask for the skills that understand them. */
export const textsOf = (skills: Skills): SkillText[] => [...skills.values()].flatMap(({ text }) => text ?? [])

/** JSON Schemas of the payloads; with `spellings`, also of alternative spellings of fields. */
export function skillSchemas(skills: Skills, { spellings = false } = {}): Record<string, unknown> {
  return Object.fromEntries([...skills.values()].map((skill) => [skill.id, schemaOf(skill, spellings)]))
}

function schemaOf({ schema, oneOf, spellings = {} }: Skill, all: boolean) {
  const groups = oneOf?.map((group) => (all && group.includes('projectUserId') ? [...group, 'target'] : group))
  return {
    ...schema,
    ...(all && { properties: { ...schema.properties, ...spellings } }),
    ...(groups && { allOf: groups.map((group) => ({ anyOf: group.map((name) => ({ required: [name] })) })) })
  }
}

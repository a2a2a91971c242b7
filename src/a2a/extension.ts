import type { FastifyRequest } from 'fastify'
import type { CardFacts } from './dialects/dialect.ts'
import { onCard, type Skills } from './skills/skills.ts'

/**
 * The name of our extension. A client that names it gets the whole registry on its extended card; other clients get the
 * contract's skills.
 */
export const skillsExtension = 'urn:tidings:a2a:skills:1'

/** The headers for extensions: version 1.0 uses the first name, 0.3 the second. */
const headers = ['a2a-extensions', 'x-a2a-extensions'] as const

/** The header by which a call asks for our extension; the response names the extension under the same one. */
export const extensionHeader = (request: Pick<FastifyRequest, 'headers'>): string | undefined =>
  headers.find((name) => isNamedIn(request.headers[name]))

const isNamedIn = (header: string | string[] | undefined): boolean =>
  header !== undefined &&
  String(header)
    .split(',')
    .some((name) => name.trim() === skillsExtension)

/** The address of a skill's schemas. */
export const schemaPath = (skill: string, kind: 'input' | 'output') => `/a2a/schemas/${skill}.${kind}.json`

/** A card with the skills of the extension. `allowed` are those of the key's policy; null allows all. */
export function withExtension(facts: CardFacts, skills: Skills, allowed: readonly string[] | null): CardFacts {
  const isAllowed = (id: string) => allowed === null || allowed.includes(id)
  const listed = [...skills.values()].filter(({ id, extension }) => !extension || isAllowed(id))
  const links = (id: string) => ({
    input: facts.baseUrl + schemaPath(id, 'input'),
    output: facts.baseUrl + schemaPath(id, 'output')
  })
  return {
    ...facts,
    skills: onCard(listed),
    extension: {
      uri: skillsExtension,
      description: 'More skills, and JSON Schemas of the input and the output of each.',
      required: false,
      params: { schemas: Object.fromEntries(listed.map(({ id }) => [id, links(id)])) }
    }
  }
}

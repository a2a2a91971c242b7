import type { Db } from '../../platform/db/db.ts'
import { isUuid, type ProjectId } from '../../platform/ids.ts'
import { type ActorName, findNames } from './name-store.ts'

/** The names of people among the actors; members are a capability of their own. */
export type NamesOfMembers = (
  db: Db,
  projectId: ProjectId | null,
  actors: readonly string[]
) => Promise<Map<string, Omit<ActorName, 'actor'>>>

/**
 * Finds the names of the authors of changes, also of keys, tokens and members that were deleted since. Without a project:
 * for admins of the whole installation, with the roles there.
 */
export type NamesOf = (projectId: ProjectId | null, actors: readonly (string | null)[]) => Promise<Names>

export interface Names {
  /** Null if the name is not known any more. */
  nameOf(actor: string | null): string | null
  roleOf(actor: string | null): string | null
}

/** Actors that are no row of a table. */
const fixed = new Map([
  ['bootstrap', 'Tidings (first start)'],
  ['service', 'Tidings'],
  ['restore', 'tidings resume'],
  ['agent', 'An agent']
])

const idsOf = (actors: readonly string[], kind: string): string[] =>
  actors
    .filter((actor) => actor.startsWith(`${kind} `))
    .map((actor) => actor.slice(kind.length + 1))
    .filter(isUuid)

export function createNames(db: Db, members: NamesOfMembers): NamesOf {
  return async (projectId, given) => {
    const actors = [...new Set(given.filter((actor) => actor !== null))]
    const found = new Map<string, Omit<ActorName, 'actor'>>()
    if (actors.some((actor) => !fixed.has(actor))) {
      const ids = { keys: idsOf(actors, 'key'), tokens: idsOf(actors, 'token'), actors }
      for (const { actor, name, role } of await findNames(db, projectId, ids)) found.set(actor, { name, role })
      const people = actors.filter((actor) => actor.startsWith('member '))
      if (people.length > 0) for (const [actor, name] of await members(db, projectId, people)) found.set(actor, name)
    }
    return {
      nameOf: (actor) => (actor === null ? null : (found.get(actor)?.name ?? fixed.get(actor) ?? null)),
      roleOf: (actor) => (actor === null ? null : (found.get(actor)?.role ?? null))
    }
  }
}

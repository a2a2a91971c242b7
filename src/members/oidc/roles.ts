import type { GroupRole } from '../../platform/config/config.ts'

export interface Grant {
  role: GroupRole['role']
  /** Null: the whole installation. */
  project_id: string | null
}

const rank = { viewer: 0, editor: 1, admin: 2 }

/** The roles that groups grant: the highest of each project, and of the installation. Names are compared exactly. */
export function grantsOf(mapped: readonly GroupRole[], groups: readonly string[]): Grant[] {
  const highest = new Map<string | null, Grant>()
  for (const { group, role, project } of mapped) {
    if (!groups.includes(group)) continue
    const before = highest.get(project)
    if (!before || rank[role] > rank[before.role]) highest.set(project, { role, project_id: project })
  }
  return [...highest.values()]
}

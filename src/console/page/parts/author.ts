const deleted = [
  ['member ', 'a deleted member'],
  ['token ', 'a deleted token'],
  ['key ', 'a deleted key']
] as const

/** The author of a change by name. The service forgets the names of deleted ones after a time. */
export function authorOf({ actor, actor_name }: { actor: string | null; actor_name: string | null }): string {
  if (actor_name !== null) return actor_name
  return deleted.find(([kind]) => actor?.startsWith(kind))?.[1] ?? actor ?? 'Tidings'
}

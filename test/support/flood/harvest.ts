import type { Json } from '../http.ts'
import type { WildRequest } from './requests.ts'
import type { WireReply } from './wire.ts'
import type { World } from './world.ts'

const mostKept = 20

/** Keeps ids and cursors of responses, so that later requests name things that exist. */
export function harvester(registered: string[]) {
  /** The parameter that an `id` in a response of this address means: `webhook_id` for …/webhooks. */
  const meanings = new Map<string, string>()
  for (const url of registered.map((one) => one.split(' ')[1]!)) {
    const [, base, name] = /^(.+)\/:(\w+)(?:\([^)]*\))?(?:::[a-z-]+)?$/.exec(url) ?? []
    if (base && name) meanings.set(base, name)
  }

  function take(name: string, value: unknown, { known, kept }: World): void {
    if (typeof value !== 'string' || value === '' || value.length > 300 || kept.includes(value)) return
    const list = known.get(name) ?? []
    if (list.includes(value)) return
    list.push(value)
    // The first stays: it belongs to the project.
    if (list.length > mostKept) list.splice(1, 1)
    known.set(name, list)
  }

  function walk(value: Json, own: string | undefined, world: World, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > 5) return
    for (const [name, inner] of Object.entries(value).slice(0, 30)) {
      if (name === 'id' && own) take(own === 'project_id' ? 'spare_project_id' : own, inner, world)
      else if (name === 'next_cursor') take('cursor', inner, world)
      else if (/_id$/.test(name) && name !== 'project_id') take(name, inner, world)
      else if (name === 'taskId') take('task_id', inner, world)
      walk(inner as Json, name === 'task' ? 'task_id' : own, world, depth + 1)
    }
  }

  return ({ route, caller }: WildRequest, { status, text }: WireReply, world: World): void => {
    if (status >= 300 || text.length > 20_000 || !text.startsWith('{')) return
    // Someone who sees all projects sees the hidden one too: only what it has made is taken.
    if (caller.everywhere && status !== 201) return
    try {
      walk(JSON.parse(text), meanings.get(route.url), world)
    } catch {
      // Not JSON.
    }
  }
}

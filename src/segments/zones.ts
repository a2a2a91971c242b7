import type { CompiledSegment } from './compile.ts'
import type { SegmentAt } from './store.ts'

/** Time zones of which a user must be in one. Names are compared in lower case. */
export interface InZones {
  zones: string[]
  /** All other zones: a user whose own zone is in neither list has none. */
  others: string[]
  /** Whether users without a zone belong to these zones. */
  fallback: boolean
}

const lower = (names: string[]) => names.map((name) => name.toLowerCase())

/** The segment, narrowed to users by the zone of their property `timezone`, else of the device that was seen last. */
export function inZones(segment: SegmentAt, given: InZones): SegmentAt {
  const [zones, others] = [lower(given.zones), lower(given.others)]
  return (first, scope) => {
    const compiled = segment(first, scope)
    return compiled.matchesNone ? compiled : narrowed(compiled, first, [zones, others, given.fallback])
  }
}

function narrowed(compiled: CompiledSegment, first: number, added: unknown[]): CompiledSegment {
  const [zones, others, fallback] = added.map((_, index) => `$${first + compiled.values.length + index}`)
  const own = `lower(u.properties ->> 'timezone')`
  const seen = `lower(z.facts ->> 'timezone')`
  const ofDevice = `select ${seen} = any(${zones}::text[]) from devices z
      where z.project_id = $1 and z.user_id = u.id
        and (${seen} = any(${zones}::text[]) or ${seen} = any(${others}::text[]))
      order by z.last_seen_at desc, z.id limit 1`
  const condition = `(${compiled.condition} and case
     when ${own} = any(${zones}::text[]) then true when ${own} = any(${others}::text[]) then false
     else coalesce((${ofDevice}), ${fallback}::boolean) end)`
  return { ...compiled, usesUser: true, condition, values: [...compiled.values, ...added] }
}

import { parseCampaign } from '../../campaigns/definition/definition.ts'
import { Refusal } from '../../platform/errors.ts'
import { readJson } from '../../platform/json/names.ts'
import { exit, Failure } from '../exit.ts'

/** The changes that applying a campaign would make, line by line. A default that a file leaves out is no change. */
export function differences(stored: Record<string, unknown> | undefined, filed: Record<string, unknown>): string[] {
  const before = stored ? leaves(stored) : new Map()
  const after = leaves(readJson(JSON.stringify(completed(filed))))
  const places = [...new Set([...before.keys(), ...after.keys()])].sort()
  return places.flatMap((place) => {
    const [old, fresh] = [before.get(place), after.get(place)]
    if (old === fresh) return []
    return [
      ...(old === undefined ? [] : [`- ${place}: ${old}`]),
      ...(fresh === undefined ? [] : [`+ ${place}: ${fresh}`])
    ]
  })
}

function completed(filed: Record<string, unknown>): object {
  try {
    return parseCampaign(filed)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Failure(exit.failure, error.code, `${String(filed.campaign_id)}: ${error.message}`, {
      details: error.details
    })
  }
}

/** Every value as JSON, by its path. */
function leaves(value: unknown, place = '', found = new Map<string, string>()): Map<string, string> {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inner.length === 0) return found.set(place, JSON.stringify(value))
  for (const [name, one] of inner) {
    const step = Array.isArray(value) ? `[${name}]` : place === '' ? name : `.${name}`
    leaves(one, `${place}${step}`, found)
  }
  return found
}

import type { Project } from '../../../../wire.ts'

/** The fields of the settings form. A blank number stands for the default. */
export interface Values {
  name: string
  mode: string
  limits: Record<string, number | string>
  retention: Record<string, number | string>
}

type Numbers = Record<string, number | string | null>

/** The body of the request that saves the form. null restores the default. */
export interface Changes {
  name?: string
  mode?: string
  limits?: Numbers
  retention?: Numbers
}

export const valuesOf = ({ name, mode, limits, retention }: Project, typed: Changes = {}): Values => ({
  name: typed.name ?? name,
  mode: typed.mode ?? mode,
  limits: { ...limits, ...blanks(typed.limits) },
  retention: { ...retention, ...blanks(typed.retention) }
})

export function changesOf(values: Values, saved: Project): Changes {
  const limits = changedNumbers(values.limits, saved.limits)
  const retention = changedNumbers(values.retention, saved.retention)
  return {
    ...(values.name !== saved.name && { name: values.name }),
    ...(values.mode !== saved.mode && { mode: values.mode }),
    ...(limits && { limits }),
    ...(retention && { retention })
  }
}

const blanks = (numbers: Numbers = {}) =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value ?? '']))

function changedNumbers(values: Record<string, number | string>, saved: Record<string, number>): Numbers | undefined {
  const changed = Object.entries(values).filter(([name, value]) => value !== saved[name])
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]))
}

import type { TaskRecord } from '../../../../wire.ts'

/** `planner, key “agent”`; a person by name. */
export const askerOf = ({ agent, key_name, actor_name, actor }: TaskRecord['asked_by']): string => {
  const by = key_name !== null ? `key “${key_name}”` : (actor_name ?? actor ?? 'not recorded')
  return agent === null ? by : `${agent}, ${by}`
}

/** The names in a path: `steps[0].wait` has three. */
const namesOf = (path: string) => path.split(/[.[\]]+/).filter((name) => name !== '')

/** The value at a path inside an object; undefined if there is none. */
export const valueAt = (value: unknown, path: string): unknown =>
  namesOf(path).reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[name] : undefined,
    value
  )

/** A copy of the value with another one at the path. Missing objects on the way are made; undefined removes the field. */
export function withValue(value: unknown, path: string, next: unknown): unknown {
  const [name, ...rest] = namesOf(path)
  if (name === undefined) return next
  if (Array.isArray(value)) return value.with(Number(name), withValue(value[Number(name)], rest.join('.'), next))
  const { [name]: inner, ...others } = (value ?? {}) as Record<string, unknown>
  const changed = withValue(inner, rest.join('.'), next)
  return changed === undefined ? others : { ...(value as object), [name]: changed }
}

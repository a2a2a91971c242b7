/**
 * A function of a list, called once for each list. Many targets of a trigger may share a list of a hundred thousand values:
 * what is made of it is made once, and kept as long as the list.
 */
export function perList<Result>(make: (list: readonly unknown[]) => Result): (list: readonly unknown[]) => Result {
  const made = new WeakMap<readonly unknown[], { result: Result }>()
  return (list) => {
    const known = made.get(list) ?? { result: make(list) }
    made.set(list, known)
    return known.result
  }
}

/**
 * Waits for all promises that use one transaction, also if one of them fails: a statement sent after the end of the
 * transaction would run outside of it. Throws the first error, which is the cause of the others.
 */
export async function together(...parts: Promise<unknown>[]): Promise<void> {
  const failures: unknown[] = []
  await Promise.all(parts.map((part) => part.catch((error: unknown) => failures.push(error))))
  if (failures.length > 0) throw failures[0]
}

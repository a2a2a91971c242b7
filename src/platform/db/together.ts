/**
 * Waits for all that use one transaction, also where one of them fails: work that goes on after its end would be written
 * outside of it. Throws what failed first, since that is why others failed after it.
 */
export async function together(...parts: Promise<unknown>[]): Promise<void> {
  const failures: unknown[] = []
  await Promise.all(parts.map((part) => part.catch((error: unknown) => failures.push(error))))
  if (failures.length > 0) throw failures[0]
}

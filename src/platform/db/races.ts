// Deadlock, serialization, a key that another transaction took or removed in between.
const lost = new Set(['40P01', '40001', '23505', '23503'])

function codeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return inner instanceof Error && 'code' in inner ? String(inner.code) : ''
}

/** For a transaction that finds by itself that it lost a race: it is rolled back and done again. */
export const lostRace = (message: string): Error => Object.assign(new Error(message), { code: '40001' })

const tries = 8
/** From the third try on others get a moment to finish, each another one. */
const pauseMs = 10

/**
 * Does the whole transaction again when it lost a race against another one. Orders of locks are chosen so that this is
 * rare, but a cascade takes its rows in an order of its own, and the caller must not see it.
 */
export async function againIfRaced<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work()
    } catch (error) {
      if (tried >= tries || !lost.has(codeOf(error))) throw error
      if (tried > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs * tried))
    }
  }
}

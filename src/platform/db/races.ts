// Errors of a lost race: deadlock, serialization, or a key that another transaction inserted or deleted meanwhile.
const lost = new Set(['40P01', '40001', '23505', '23503'])

function codeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return inner instanceof Error && 'code' in inner ? String(inner.code) : ''
}

/** Thrown by a transaction that finds itself that it lost a race: it is rolled back and repeated. */
export const lostRace = (message: string): Error => Object.assign(new Error(message), { code: '40001' })

const tries = 8
/** From the third attempt on, a random wait gives others time to finish. */
const pauseMs = 10

/**
 * Repeats the whole transaction when it lost a race against another one. Lock orders are chosen so that this is rare,
 * but a cascade locks its rows in an order of its own, and the caller must not notice. `again`: this is a repeat.
 */
export async function againIfRaced<Result>(work: (again: boolean) => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work(tried > 1)
    } catch (error) {
      if (tried >= tries || !lost.has(codeOf(error))) throw error
      if (tried > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs * tried))
    }
  }
}

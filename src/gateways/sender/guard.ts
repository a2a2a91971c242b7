/** Keeps a wrong bundle id or environment from turning off every token there is. One for each credential. */
export interface Guard {
  accepted(): void
  tokenDead(): void
  /** Whether dead tokens are not to be believed now. */
  readonly holds: boolean
}

const remembered = 200
/** Fewer answers than this say nothing about the rest. */
const enough = 20
/** A credential that has worked this often is right: the tokens it is told are dead are dead. */
const proven = 100
/** From so many answers on it is known how many dead tokens are usual, and this many times more are not. */
const usualFrom = 1_000
const jump = 10
/** About what a busy project sends in a day; what was longer ago counts less and less. */
const forgottenFrom = 1_000_000

export function createGuard(): Guard {
  const dead = new Uint8Array(remembered)
  let answers = 0
  let deadNow = 0
  let successes = 0
  /** Of all that were answered before those. */
  let usualAnswers = 0
  let usualDead = 0

  function holds(): boolean {
    const recent = Math.min(answers, remembered)
    if (recent < enough || deadNow <= recent / 2) return false
    if (successes < proven) return true
    return usualAnswers >= usualFrom && deadNow / recent > (jump * usualDead) / usualAnswers
  }

  function note(value: 0 | 1) {
    const at = answers % remembered
    // While they are not believed they do not become what is usual either.
    if (answers >= remembered && !holds()) {
      usualAnswers += 1
      usualDead += dead[at]!
      if (usualAnswers >= forgottenFrom) {
        usualAnswers /= 2
        usualDead /= 2
      }
    }
    deadNow += value - dead[at]!
    dead[at] = value
    answers += 1
  }

  return {
    accepted() {
      successes += 1
      note(0)
    },
    tokenDead: () => note(1),
    get holds() {
      return holds()
    }
  }
}

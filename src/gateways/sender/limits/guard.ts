import type { reach } from '../../../devices/devices.ts'

/** Keeps a wrong bundle id or environment from disabling every token of a project. Each credential has one guard. */
export interface Guard {
  accepted(): void
  tokenDead(): void
  /** Whether reports of dead tokens are not trusted now. */
  readonly holds: boolean
  /** Remembers a token that is turned off because the last report was trusted. */
  believed(token: reach.DeadToken): void
  /** Returns those of the remembered responses, each once: when reports turn out not to be trusted, they live again. */
  takeBack(): reach.DeadToken[]
}

const remembered = 200
/** Fewer responses than this prove nothing about the rest. */
const enough = 20
/** A credential that has worked this often is right, so reports of dead tokens are trusted. */
const proven = 100
/** After this many responses the usual share of dead tokens is known; ten times that share is unusual. */
const usualFrom = 1_000
const jump = 10
/** About what a busy project sends in a day; older responses count less and less. */
const forgottenFrom = 1_000_000

export function createGuard(): Guard {
  const dead = new Uint8Array(remembered)
  let answers = 0
  let deadNow = 0
  let successes = 0
  /** Counts of the responses before the remembered ones. */
  let usualAnswers = 0
  let usualDead = 0
  /** Each with the number of its response. */
  let believed: { token: reach.DeadToken; answer: number }[] = []

  function holds(): boolean {
    const recent = Math.min(answers, remembered)
    if (recent < enough || deadNow <= recent / 2) return false
    if (successes < proven) return true
    return usualAnswers >= usualFrom && deadNow / recent > (jump * usualDead) / usualAnswers
  }

  function note(value: 0 | 1) {
    const at = answers % remembered
    // Reports that are not trusted do not change the usual share either.
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
    },
    believed(token) {
      while (believed[0] && believed[0].answer <= answers - remembered) believed.shift()
      believed.push({ token, answer: answers })
    },
    takeBack() {
      const from = answers - remembered
      const taken = believed.filter(({ answer }) => answer > from).map(({ token }) => token)
      believed = []
      return taken
    }
  }
}

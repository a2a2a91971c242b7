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

export function createGuard(): Guard {
  const dead = new Uint8Array(remembered)
  let answers = 0
  let deadNow = 0
  let successes = 0

  function note(value: 0 | 1) {
    const at = answers % remembered
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
      return successes < proven && answers >= enough && deadNow > Math.min(answers, remembered) / 2
    }
  }
}

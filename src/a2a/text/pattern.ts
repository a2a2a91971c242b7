import type { Token } from './tokens.ts'

/** A value that a slot took, linked to the one before it in the text. */
export interface Found {
  slot: string
  value: unknown
  before: Found | undefined
}

export interface State {
  at: number
  found: Found | undefined
}

/** One attempt to read a text by one pattern. */
export interface Run {
  tokens: readonly Token[]
  /** The first place that nothing fits. */
  furthest: number
  /** Why a slot did not take what stands there. */
  because: string | undefined
}

/** All ways to go on from a state. */
export type Step = (run: Run, state: State) => State[]

/** Reads a value, and returns it with the place after it. */
export type Slot = (run: Run, at: number) => { value: unknown; next: number } | undefined

export interface Notation {
  rules: Readonly<Record<string, string>>
  /** Rules whose presence is what they say. */
  flags: ReadonlySet<string>
  slots: Readonly<Record<string, Slot>>
}

/** States that a pattern may have at once. Texts that people write stay far below. */
const mostStates = 1_000

/**
 * Makes the function that reads a pattern, and adds its words to `words`. The docs print patterns as they stand: `a|b` is one
 * of these words, `[ … ]` may be absent, `( … | … )` is one of these phrases, `{ … }` may be repeated or absent, and `<…>` is
 * a slot or another rule.
 */
export function compile(pattern: string, notation: Notation, words: Set<string>): Step {
  const symbols = pattern.match(/<\w+>|[[\](){}]|[^\s[\](){}<>]+/g) ?? []
  let place = 0
  return choice()

  function choice(): Step {
    const steps = [sequence()]
    while (symbols[place] === '|') {
      place += 1
      steps.push(sequence())
    }
    return steps.length === 1 ? steps[0]! : (run, state) => steps.flatMap((step) => step(run, state))
  }

  function sequence(): Step {
    const steps: Step[] = []
    while (place < symbols.length && !/^[\])}|]$/.test(symbols[place]!)) steps.push(one(symbols[place++]!))
    return (run, state) => {
      let states = [state]
      for (const step of steps) {
        if (states.length === 0) break
        states = states.length === 1 ? step(run, states[0]!) : states.flatMap((each) => step(run, each))
        if (states.length > mostStates) states.length = mostStates
      }
      return states
    }
  }

  function one(symbol: string): Step {
    if (symbol.startsWith('<')) return named(symbol.slice(1, -1))
    if (!/^[[({]$/.test(symbol)) return literal(symbol.split('|'))
    const inner = choice()
    place += 1
    if (symbol === '(') return inner
    return symbol === '[' ? (run, state) => [state, ...inner(run, state)] : repeated(inner)
  }

  function named(name: string): Step {
    const slot = notation.slots[name]
    if (slot) return filled(name, slot)
    const step = compile(notation.rules[name]!, notation, words)
    if (!notation.flags.has(name)) return step
    return (run, state) =>
      step(run, state).map(({ at, found }) => ({ at, found: { slot: name, value: true, before: found } }))
  }

  function literal(these: string[]): Step {
    for (const word of these) words.add(word)
    return (run, { at, found }) => {
      const token = run.tokens[at]
      const written = token?.kind === 'word' ? token.lower : token?.kind === 'mark' ? token.text : undefined
      if (written === undefined || !these.includes(written)) return []
      reach(run, at + 1)
      return [{ at: at + 1, found }]
    }
  }
}

function repeated(step: Step): Step {
  return (run, state) => {
    const all = [state]
    for (let last = [state]; last.length > 0 && all.length < mostStates; ) {
      last = last.flatMap((each) => step(run, each).filter(({ at }) => at > each.at))
      all.push(...last)
    }
    return all
  }
}

function filled(name: string, slot: Slot): Step {
  return (run, { at, found }) => {
    const taken = slot(run, at)
    if (!taken) return []
    reach(run, taken.next)
    return [{ at: taken.next, found: { slot: name, value: taken.value, before: found } }]
  }
}

/** Notes that a text fits up to here. */
export function reach(run: Run, at: number, because?: string): void {
  if (at < run.furthest) return
  if (at > run.furthest) run.because = undefined
  run.furthest = at
  run.because ??= because
}

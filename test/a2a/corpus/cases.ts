import { type Draw, drawFrom } from './draw.ts'

/** An action that a text may lead to: a skill with its fields. */
export interface Action {
  skill: string
  data: Record<string, unknown>
}

/**
 * What a careful colleague would agree to.
 * - `does`: the text is clear and in a published form. One of these actions must follow.
 * - `mayDo`: one of these actions is right, and so is a question.
 * - `never`: no action at all is right. A question or a refusal is.
 */
export type Expected = { does: Action[] } | { mayDo: Action[] } | { never: true }

/** A text, or a conversation of several texts in one task: nothing may be done before the last. */
export interface Case {
  turns: string[]
  expected: Expected
}

export interface Class {
  name: string
  cases: Case[]
}

export const does = (turns: string | string[], ...actions: Action[]): Case => ({
  turns: [turns].flat(),
  expected: { does: actions }
})
export const mayDo = (turns: string | string[], ...actions: Action[]): Case => ({
  turns: [turns].flat(),
  expected: { mayDo: actions }
})
export const never = (...turns: string[]): Case => ({ turns, expected: { never: true } })

const times = process.env.TIDINGS_LONG ? 12 : 1

/** A class of this many different cases. Each call makes one case, and every run makes the same cases. */
export function classOf(name: string, size: number, make: (draw: Draw, index: number) => Case): Class {
  const draw = drawFrom(name)
  const most = size * times
  const cases = new Map<string, Case>()
  for (let index = 0; cases.size < most && index < 20 * most; index++) {
    const made = make(draw, index)
    const key = made.turns.join('\n---\n')
    if (!cases.has(key)) cases.set(key, made)
  }
  return { name, cases: [...cases.values()] }
}

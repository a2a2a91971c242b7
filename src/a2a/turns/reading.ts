import type { Request } from '../model.ts'
import type { Skills } from '../skills/registry.ts'

/** What a text was taken to mean: a request, a question because it is not clear, or that nothing is to be done. */
export type Reading =
  | { kind: 'request'; skill: string; fields: Record<string, unknown>; understood: string }
  | { kind: 'ask'; question: string; request?: Request }
  | { kind: 'declined'; understood: string }

/** What is known when a text is read: the skills there are, and the request that the task is about so far. */
export interface TextContext {
  skills: Skills
  known: Request | undefined
}

/** Reads a message that is only text. Passed in, so that what reads is a pure function of its own. */
export type ReadText = (text: string, context: TextContext) => Reading | Promise<Reading>

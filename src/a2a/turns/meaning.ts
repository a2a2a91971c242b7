import type { Request } from '../model.ts'
import type { Skills } from '../skills/skills.ts'

/** The meaning of a text for its task: a request, a question because it is unclear, or a refusal. */
export type Meaning =
  | { kind: 'request'; skill: string; fields: Record<string, unknown>; understood: string }
  | { kind: 'ask'; question: string; request?: Request }
  | { kind: 'declined'; understood: string }

/** The skills, and the request that the task is about so far. */
export interface TextContext {
  skills: Skills
  known: Request | undefined
}

/** Reads a message that is only text. */
export type ReadText = (text: string, context: TextContext) => Meaning | Promise<Meaning>

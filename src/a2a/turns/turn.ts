import type { Db } from '../../platform/db/db.ts'
import type { Request } from '../model.ts'
import type { Beside, Skill } from '../skills/skill.ts'

/** The next step of a task, as a message decides it. */
export type Turn = (
  | {
      kind: 'run'
      request: Request
      skill: Skill
      /** A yes to an action that was carried out before: the task returns the same trigger. */
      repeated?: boolean
    }
  | ({
      kind: 'stop'
      request: Request
      state: 'input-required' | 'auth-required' | 'rejected' | 'canceled'
      reason: string
    } & Beside)
) & {
  /** Runs in the transaction that writes the task. */
  write?: (tx: Db, taskId: string) => Promise<void>
  /** The confirmation that the message answered. If another task asked for it, that task ends too. */
  answers?: string
  /** The task of an earlier yes to the same confirmation. The caller gets that task, and nothing is written for this turn. */
  instead?: string
}

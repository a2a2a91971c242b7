import type { ProjectId } from '../../platform/ids.ts'
import type { ApiCaller } from '../../projects/projects.ts'
import type { Message, Task } from '../model.ts'
import type { Turn } from './turns.ts'

/** The message that made a turn, and its sender. */
export interface Overseen {
  projectId: ProjectId
  caller: ApiCaller
  /** The name of the asking agent, where it gave one. */
  agent: string | undefined
  message: Message
  /** The task that the message goes on with; undefined where it begins one. */
  task: Task | undefined
}

/** Judges a turn before anything of it is written, and returns it as it is or another in its place. */
export type Oversee = (turn: Turn, overseen: Overseen) => Turn | Promise<Turn>

export const createOversee = (): Oversee => (turn) => turn

import type { App } from '../../../app.ts'
import type { Connection } from '../../../platform/db/db.ts'
import type { NodeRole } from '../../../platform/nodes/nodes.ts'
import type { GroupState } from '../../../platform/siblings/siblings.ts'

export interface Start {
  kind: 'start'
  env: Record<string, string | undefined>
  role: NodeRole
  json: boolean
  connection: Connection
  parentId: string
  first: boolean
  /** The port that the first process got. */
  port: number | undefined
}

/** What a parent asks of its processes. */
export type OfParent = Start | { kind: 'report' } | { kind: 'state'; state: GroupState } | { kind: 'stop' }

/** A service that has started, as far as its greeting needs it. */
export type Introduced = Pick<App, 'baseUrl' | 'port' | 'consoleUrl' | 'bootstrapped'>

/** What came of a start. */
export type Outcome = { app: Introduced } | { failure: string; exitCode: number }

import type { Agents, Skill } from '../a2a/a2a.ts'
import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Log } from '../platform/log.ts'
import type { ApiCaller } from '../projects/projects.ts'
import type { Triggers } from '../triggers/triggers.ts'

/** The facts of one request that its tools and resources act with. */
export interface Asked {
  caller: ApiCaller
  /** The name that the client gives itself. */
  agent: string | undefined
  /** Throws where a skill may not be run now. */
  admit: (skill: Skill) => undefined | Promise<undefined>
  /** Notes that the service cannot respond now, so that the response is a 503 unless it has begun. */
  putOff: () => void
}

export interface McpOptions {
  agents: Pick<Agents, 'skills' | 'perform'>
  campaigns: Pick<Campaigns, 'newest' | 'saving'>
  triggers: Pick<Triggers, 'get' | 'list'>
  log: Log
}

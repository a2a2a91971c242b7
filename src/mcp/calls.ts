import { type CallToolResult, ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { AgentError, type Agents } from '../a2a/a2a.ts'
import { Refusal } from '../platform/errors.ts'
import type { Asked } from './asked.ts'
import type { Follow } from './progress.ts'
import { failed, resultOf } from './results.ts'

export interface CallsNeeds {
  agents: Pick<Agents, 'skills' | 'perform'>
  follow: Follow
}

/** Runs the skill that a tool stands for, as a task: durable, judged and recorded like one of A2A. */
export const createCalls =
  ({ agents, follow }: CallsNeeds) =>
  async (asked: Asked, name: string, given: Record<string, unknown>, context: ServerContext) => {
    const skill = agents.skills.get(name)
    if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 100)}.`)
    const { idempotencyKey: key, ...fields } = given
    if (key !== undefined && !isKey(key)) return failed('idempotencyKey: must be 1 to 255 printable ASCII characters.')
    try {
      const performed = await agents.perform({ ...asked, skill, fields, key })
      if ('refused' in performed) return failed(performed.refused)
      const result = resultOf(performed.task)
      const triggerId = skill.triggers && (result.structuredContent as { triggerId?: unknown } | undefined)?.triggerId
      // The trigger is accepted: a fault while it is followed must not tell the caller to try again.
      if (typeof triggerId === 'string') await follow(asked.caller.project.id, triggerId, context).catch(() => {})
      return result
    } catch (error) {
      return refusal(error)
    }
  }

const isKey = (key: unknown): key is string => typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)

/** A refusal is a result of the tool, which its caller's model reads; any other error is a fault. */
function refusal(error: unknown): CallToolResult {
  if (error instanceof AgentError) return failed(error.message)
  if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
  return failed(
    error.code === 'rate_limited'
      ? 'The project triggers as many campaigns a second as it may. Call again later.'
      : error.message
  )
}

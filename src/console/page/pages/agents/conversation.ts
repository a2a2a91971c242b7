import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Page, TaskRecord } from '../../../../wire.ts'
import { newId, project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { useUrlState } from '../../parts/url-state.ts'
import { type Message, stream } from './a2a.ts'

export type Part = Message['parts'][number]

interface Update {
  statusUpdate?: { taskId: string; status: { state: string; message?: Message } }
}

/** A message that is on its way, with the states that the agent has streamed so far. */
export interface Sending {
  parts: Part[]
  states: { state: string; text: string | undefined }[]
}

const waiting = ['input-required', 'auth-required']

/**
 * A conversation with the agent. The service keeps it as tasks with one context id, which stands in the address: a
 * reload and a link open it again, with the question that waits for an answer.
 */
export function useConversation(actingKey: string | null) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const [contextId, setContextId] = useUrlState('context')
  const [sending, setSending] = useState<Sending>()
  const queryKey = ['conversation', projectId, contextId]
  const history = useQuery({
    queryKey,
    queryFn: () =>
      project<Page<TaskRecord>>(projectId, 'GET', '/agent-tasks', { query: { context_id: contextId, limit: 50 } }),
    meta: { kinds: ['tasks'] },
    enabled: contextId !== ''
  })
  const tasks = contextId === '' ? [] : (history.data?.items.toReversed() ?? [])
  const open = tasks.findLast(({ state }) => waiting.includes(state))

  async function say(parts: Part[]): Promise<void> {
    // A context of our own choice: it is in the address before the first response arrives.
    const context = contextId || newId()
    const known: Sending = { parts, states: [] }
    setSending(known)
    const receive = (event: unknown) => {
      const update = (event as { result?: Update }).result?.statusUpdate
      if (!update) return
      const text = update.status.message?.parts.map((part) => part.text ?? '').join(' ')
      known.states.push({ state: update.status.state, text })
      setSending({ ...known })
    }
    const message = {
      ...{ messageId: newId(), role: 'user', parts, contextId: context },
      ...(open?.state === 'input-required' && { taskId: open.id })
    }
    try {
      await stream(projectId, message, receive, actingKey)
      if (contextId === '') setContextId(context)
      else await queries.invalidateQueries({ queryKey })
    } finally {
      setSending(undefined)
    }
  }

  return { contextId, open: setContextId, history, tasks, question: open, sending, say }
}

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Task } from '../a2a/a2a.ts'

type Data = Record<string, unknown>

/** A tool that did not do what was asked. The caller's model reads the sentence, and what else there is as JSON. */
export const failed = (reason: string, data?: object): CallToolResult => ({
  isError: true,
  // Older clients judge structured content of an error by the schema of a success, so it stands in a text.
  content: [text(reason), ...(data ? [text(JSON.stringify(data))] : [])]
})

/** A task as the result of the tool that asked for it. */
export function resultOf(task: Task): CallToolResult {
  const { state, message } = task.status
  const said = message?.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
  const data = dataOf(task.artifacts.at(-1)?.parts)
  if (state === 'completed' && data)
    return { content: [...(said ? [text(said)] : []), text(JSON.stringify(data))], structuredContent: data }
  const more = { taskId: task.id, state, ...message?.metadata, ...dataOf(message?.parts), ...data }
  if (state === 'input-required' && 'confirmationId' in more) return failed(`${said} ${confirmAgain}`, more)
  const waits = state === 'auth-required' && 'approvalId' in more
  return waits || state === 'working' || state === 'submitted'
    ? failed(`${said ?? 'It is still under way.'} ${askAgain}`, { ...more, idempotencyKey: task.history[0]?.messageId })
    : failed(said ?? `It is ${state}.`, more)
}

const confirmAgain = 'For a yes, call the tool again with the confirmationId that follows.'
const askAgain = 'To learn what became of it, call the tool again with the same arguments and this idempotencyKey.'

const text = (words: string) => ({ type: 'text' as const, text: words })

const dataOf = (parts: Task['artifacts'][number]['parts'] = []): Data | undefined => {
  const part = parts.find((one) => 'data' in one)
  return part && 'data' in part ? (part.data as Data) : undefined
}

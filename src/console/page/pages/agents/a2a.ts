import { newId } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'

/** The A2A endpoint of the project under /manage/v1, which takes the cookie of the session. */
const url = (projectId: string) => `/manage/v1/projects/${encodeURIComponent(projectId)}/a2a`
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-tidings-console': '1' }
const envelope = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: newId(), method, params })

interface Part {
  text?: string
  data?: unknown
}
export interface Message {
  messageId: string
  role: string
  parts: Part[]
  taskId?: string
  contextId?: string
}

/** The state in the spelling of the contract: tasks of another dialect have `TASK_STATE_COMPLETED` for `completed`. */
export const stateOf = ({ status: { state } }: { status: { state: string } }) =>
  state
    .replace(/^TASK_STATE_/, '')
    .replaceAll('_', '-')
    .toLowerCase()

interface Reply<Result> {
  result?: Result
  error?: { code: number; message: string; data?: unknown }
}

export async function rpc<Result>(projectId: string, method: string, params: object = {}): Promise<Result> {
  const response = await fetch(url(projectId), { method: 'POST', headers, body: envelope(method, params) })
  const reply = (await response.json().catch(() => ({}))) as Reply<Result> & { error?: unknown }
  if (reply.result === undefined) throw failure(response.status, reply)
  return reply.result
}

const failure = (status: number, reply: Reply<unknown>) =>
  typeof reply.error === 'object'
    ? new ApiError(status, `${reply.error.message} (${reply.error.code})`)
    : new ApiError(status, String(reply.error ?? 'The agent did not respond.'))

/** Sends a message and passes on every event of the stream until it ends. */
export async function stream(
  projectId: string,
  message: Message,
  receive: (event: unknown) => void,
  actingKey: string | null = null
) {
  const body = envelope('SendStreamingMessage', { message })
  const acting: Record<string, string> = actingKey === null ? {} : { 'x-tidings-key': actingKey }
  const response = await fetch(url(projectId), { method: 'POST', headers: { ...headers, ...acting }, body })
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw failure(response.status, (await response.json().catch(() => ({}))) as Reply<unknown>)
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) receive(JSON.parse(line.slice(5)))
  }
}

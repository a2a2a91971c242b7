import { TidingsError } from './errors.ts'
import { isPassing, type Transport, unanswered } from './request.ts'
import type { Trigger } from './schemas.ts'

/** The service sends a sign of life every 15 seconds. */
const silenceMs = 45_000
const isFinal = ({ state }: Trigger): boolean => ['completed', 'canceled', 'failed'].includes(state)

/**
 * The trigger whenever it changes, until it has ended. A connection that breaks is opened again; only when that fails as
 * often as a call is repeated does the loop throw.
 */
export async function* watchTrigger(
  transport: Transport,
  triggerId: string,
  signal: AbortSignal | undefined
): AsyncGenerator<Trigger, void, undefined> {
  let last = ''
  for (let failures = 0; ; failures += 1) {
    let failure: TidingsError
    try {
      for await (const data of eventsOf(transport, triggerId, signal)) {
        failures = 0
        if (data === last) continue
        last = data
        const trigger = JSON.parse(data) as Trigger
        yield trigger
        if (isFinal(trigger)) return
      }
      failure = unanswered('streamTrigger', failures + 1, new Error('The stream ended before the trigger'), signal)
    } catch (error) {
      failure = error instanceof TidingsError ? error : unanswered('streamTrigger', failures + 1, error, signal)
    }
    if (!isPassing(failure) || failures >= transport.retries) throw failure
    await transport.wait(failures, failure.retryAfterMs, signal).catch((reason) => {
      throw unanswered('streamTrigger', failures + 1, reason, signal)
    })
  }
}

/** The data of each server-sent event. Ends with the connection, and with one that is silent. */
async function* eventsOf(
  transport: Transport,
  triggerId: string,
  signal: AbortSignal | undefined
): AsyncGenerator<string> {
  const ending = new AbortController()
  const end = () => ending.abort(signal?.reason)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const awake = () => {
    clearTimeout(timer)
    timer = setTimeout(() => ending.abort(new Error('The stream is silent')), silenceMs)
  }
  try {
    awake()
    const response = await transport.open('streamTrigger', { path: { trigger_id: triggerId } }, ending.signal)
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      awake()
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        const data = block
          .split('\n')
          .filter((line) => line.startsWith('data: '))
          .map((line) => line.slice(6))
        if (data.length > 0) yield data.join('\n')
      }
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    ending.abort()
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { readJson } from '../platform/json/names.ts'
import type { Client } from './client.ts'
import { unreachable } from './refusals.ts'

/** Limits the memory for one event; an item is far smaller. */
const longestEvent = 4 * 1024 * 1024
const reconnectMs = 1_000

/** Server-sent events that carry JSON. After a lost connection, the stream resumes after the last event it received. */
export function events<Item>(
  client: Client,
  path: string,
  query: Record<string, string | undefined>,
  interrupt: AbortSignal
) {
  let response: Response | undefined
  let lastId: string | undefined

  async function open(): Promise<void> {
    const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
    response = await client.send('GET', path, { query, headers })
  }

  async function* items(): AsyncGenerator<Item> {
    for (;;) {
      if (!response) await open()
      try {
        for await (const { id, data } of eventsIn(response!.body!)) {
          lastId = id ?? lastId
          yield readJson(data) as Item
        }
      } catch (error) {
        if (error instanceof SyntaxError) throw unreachable(client.url, error)
      }
      response = undefined
      await sleep(reconnectMs, undefined, { signal: interrupt }).catch(() => {})
      // Ctrl-C is the normal end of watching.
      if (interrupt.aborted) return
    }
  }

  return { open, items }
}

interface Event {
  id: string | undefined
  data: string
}

/** Splits a stream into events, which end with an empty line. Lines that begin with a colon are heartbeats. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    text += chunk
    if (text.length > longestEvent) throw new SyntaxError('an event is too long')
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()] as const)
      )
      text = text.slice(end + 2)
      const data = fields.get('data')
      if (data !== undefined) yield { id: fields.get('id'), data }
    }
  }
}

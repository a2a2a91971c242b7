import { TidingsError } from './errors.ts'
import type { Call } from './requests.ts'
import { exclusively, newId, type PageStorage } from './storage.ts'

interface QueuedEvent {
  id: string
  name: string
  at: string
  properties: Record<string, unknown>
}

interface QueueNeeds {
  call: Call
  storage: PageStorage
  deviceId: string
  /** Tabs of this project send by turns. */
  lock: string
  registration: { ready(): Promise<void>; forget(): void }
}

/** The most events that wait for a connection; then the oldest are dropped. */
const mostQueued = 1_000
const batchSize = 100
const longestPauseMs = 60_000

/** Keeps events in the browser until the service has stored them, also over a restart. */
export function createEventQueue({ call, storage, deviceId, lock, registration }: QueueNeeds) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let pauseMs = 1_000
  const queued = (): QueuedEvent[] => storage.read('events') ?? []

  /** Sends queued events in order. Refused events are dropped; after other failures they stay queued. */
  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    try {
      await exclusively(lock, sendQueue)
      pauseMs = 1_000
    } catch {
      timer ??= setTimeout(() => void flush(), pauseMs)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  async function sendQueue(): Promise<void> {
    for (let batch = queued().slice(0, batchSize); batch.length > 0; batch = queued().slice(0, batchSize)) {
      await registration.ready()
      await send(batch).catch(async (error: unknown) => {
        if (!(error instanceof TidingsError)) throw error
        if (error.code === 'device_not_found') registration.forget()
        if (!isFinal(error)) throw error
        // One bad event fails the whole batch: then each is sent alone, and the bad one is dropped.
        for (const event of batch) await send([event]).catch(dropRefused)
      })
      const sent = new Set(batch.map(({ id }) => id))
      storage.write(
        'events',
        queued().filter(({ id }) => !sent.has(id))
      )
    }
  }

  async function send(batch: QueuedEvent[]): Promise<void> {
    // Ids let the service recognise events of a repeated request.
    const events = batch.map(({ id, name, at, properties }) => ({
      id,
      device_id: deviceId,
      name,
      at,
      event_property: { custom_properties: properties }
    }))
    await call('POST', '/events', { events })
  }

  function track(name: string, properties: Record<string, unknown>): void {
    const event = { id: newId(), name, at: new Date().toISOString(), properties }
    storage.write('events', [...queued(), event].slice(-mostQueued))
    void flush()
  }

  return { flush, track }
}

const isFinal = ({ status }: TidingsError) => status === 400 || status === 413

function dropRefused(error: unknown): void {
  if (!(error instanceof TidingsError && isFinal(error))) throw error
}

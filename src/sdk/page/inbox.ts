import { exclusively, shared } from './storage.ts'
import type { InboxItem, InboxState } from './types.ts'

export type Inbox = ReturnType<typeof createInbox>

interface Kept {
  limit: number
  /** Newest first. */
  items: InboxItem[]
}

const usualLimit = 50
/** A push has at most 4 KB, so this keeps less than 1 MB. */
const mostItems = 200
const place = 'inbox'

/**
 * The recent pushes of this browser, which the service worker keeps from the first call of this function on. All tabs of a
 * site share them. Logging out, or another user logging in, empties the inbox.
 */
export function createInbox({ limit = usualLimit }: { limit?: number } = {}) {
  const most = Math.min(Math.max(1, Math.trunc(limit)), mostItems)
  const listeners = new Set<(state: InboxState) => void>()
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('tidings-inbox') : undefined
  channel?.addEventListener('message', () => void announce())

  async function get(): Promise<InboxState> {
    const { items } = (await shared.read<Kept>(place)) ?? { items: [] }
    return { items, unread: items.filter(({ read }) => !read).length }
  }

  async function announce(): Promise<void> {
    if (listeners.size === 0) return
    const state = await get()
    for (const listener of listeners) listener(state)
  }

  async function change(apply: (items: InboxItem[]) => InboxItem[]): Promise<void> {
    await exclusively('tidings.inbox', async () => {
      const kept = await shared.read<Kept>(place)
      await shared.write(place, { limit: most, items: apply(kept?.items ?? []).slice(0, most) })
    })
    channel?.postMessage('changed')
    await announce()
  }

  // Tells the service worker to keep pushes.
  const opened = change((items) => items)

  const changeAfter = async (apply: (items: InboxItem[]) => InboxItem[]) => {
    await opened
    await change(apply)
  }

  return {
    get: () => opened.then(get),
    /** Marks one push as read, or all of them. */
    markRead: (id?: string): Promise<void> =>
      changeAfter((items) =>
        items.map((item) => (id === undefined || item.id === id ? { ...item, read: true } : item))
      ),
    remove: (id: string): Promise<void> => changeAfter((items) => items.filter((item) => item.id !== id)),
    clear: (): Promise<void> => changeAfter(() => []),
    /** Calls the listener with the inbox as it is, and after every change, also by another tab. Returns a function that ends it. */
    subscribe(listener: (state: InboxState) => void): () => void {
      listeners.add(listener)
      void opened.then(get).then((state) => listeners.has(listener) && listener(state))
      return () => void listeners.delete(listener)
    }
  }
}

/** The next user of this browser must not read the pushes of the one before. */
export async function emptyInbox(): Promise<void> {
  await exclusively('tidings.inbox', async () => {
    const kept = await shared.read<Kept>(place)
    if (kept) await shared.write(place, { ...kept, items: [] })
  })
  if (!('BroadcastChannel' in globalThis)) return
  const channel = new BroadcastChannel('tidings-inbox')
  channel.postMessage('changed')
  channel.close()
}

export type PageStorage = ReturnType<typeof openStorage>

/** The page's localStorage. Without it, or with a full one, values live as long as the page. */
export function openStorage(prefix: string) {
  const memory = new Map<string, string>()
  const get = (name: string): string | null => {
    try {
      return memory.get(name) ?? localStorage.getItem(prefix + name)
    } catch {
      return null
    }
  }
  const set = (name: string, text: string): string => {
    memory.delete(name)
    try {
      localStorage.setItem(prefix + name, text)
    } catch {
      memory.set(name, text)
    }
    return text
  }
  return {
    get,
    set,
    read<Value>(name: string): Value | undefined {
      try {
        return JSON.parse(get(name) ?? '') as Value
      } catch {
        return undefined
      }
    },
    write: (name: string, value: unknown) => set(name, JSON.stringify(value)),
    remove(name: string): void {
      memory.delete(name)
      try {
        localStorage.removeItem(prefix + name)
      } catch {
        // Storage is forbidden.
      }
    }
  }
}

/** Tabs and the service worker share their storage, so only one of them works on a part of it at a time. */
export async function exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return navigator.locks ? navigator.locks.request(name, work) : work()
}

/** What page and service worker share, since workers have no localStorage. The cache exists on secure pages only. */
export const shared = {
  async read<Value>(name: string): Promise<Value | undefined> {
    const found = await (await openCache())?.match(`/tidings/${name}`)
    return found && (found.json() as Promise<Value>)
  },
  async write(name: string, value: unknown): Promise<void> {
    await (await openCache())?.put(`/tidings/${name}`, Response.json(value))
  }
}

const openCache = async () => ('caches' in globalThis ? caches.open('tidings') : undefined)

/** crypto.randomUUID exists only on secure pages. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

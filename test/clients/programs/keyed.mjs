/** The client's own hook for a fetch, which adds the key. */
export const keyed =
  (key, fetchImpl = fetch) =>
  (input, init) =>
    fetchImpl(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': key } })

/** For clients without a hook: the fetch of their process. */
export function keyEverything(key) {
  globalThis.fetch = keyed(key, globalThis.fetch)
}

export async function all(stream) {
  const events = []
  for await (const event of stream) events.push(event)
  return events
}

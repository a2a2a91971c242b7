/** Whether the browser is signed in; undefined while the service does not respond. */
export async function isSignedIn(): Promise<boolean | undefined> {
  try {
    const response = await fetch('/console/session', { cache: 'no-store', signal: AbortSignal.timeout(5_000) })
    return response.ok ? (await response.json()).role !== null : undefined
  } catch {
    return undefined
  }
}

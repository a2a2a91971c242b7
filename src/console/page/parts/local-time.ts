const two = (value: number) => String(value).padStart(2, '0')

/** An instant as inputs of the type datetime-local hold it, in the time zone of the browser. */
export function localTimeOf(instant: string): string {
  const at = new Date(instant)
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** The instant of a local time; undefined while it is not complete. */
export function instantOf(local: string): string | undefined {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** `Europe/Vienna`, the time zone that local times are in. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

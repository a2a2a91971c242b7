interface Headers {
  readonly [name: string]: string | string[] | undefined
  date?: string | undefined
}

/** The longest wait that another server may demand: a longer one is cut to an hour. */
const longestWaitMs = 3_600_000

/**
 * The wait that a response demands by `Retry-After`, in seconds or until a date (RFC 9110, 10.2.3). A date is read by the
 * clock of the server that wrote it, because the clock of this node may differ.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers['retry-after']
  if (typeof text !== 'string' || text === '') return undefined
  const wanted = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowOf(headers.date)
  return Number.isNaN(wanted) ? undefined : Math.min(Math.max(wanted, 0), longestWaitMs)
}

function nowOf(date: string | undefined): number {
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? Date.now() : theirs
}

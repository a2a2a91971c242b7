import type { SourceRecord, Translated } from './records.ts'

/** A user as the service takes it, and the lines that it comes from. */
export interface Entry {
  body: {
    project_user_id?: string
    properties?: object
    preferences?: object
    created_at?: string
    last_seen_at?: string
    devices: object[]
  }
  lines: number[]
  /** By the place of each device. */
  deviceLines: number[]
}

/** A line, or a part of one, that was not taken. */
export interface NotTaken {
  line: number
  user?: string
  device?: string
  not_taken: 'line' | 'device' | 'properties'
  reason: string
  code?: string
}

export interface Batch {
  entries: Entry[]
  devices: number
  /** All records up to its end. */
  records: number
  line: number
  bytes: number
  notTaken: NotTaken[]
}

/** Large enough that a transaction costs little for each user, small enough that a request takes a fraction of a second. */
const mostEntries = 500
const mostDevices = 1_000
/** The limit of the service for one user. */
const mostDevicesOfUser = 100
const mostBytes = 2 * 1024 * 1024

/** Gathers records into batches. Lines of one user that follow each other are one entry. */
export class Gatherer {
  private batch: Batch = this.fresh(0)
  private byUser = new Map<string, Entry>()
  private lastUser: string | undefined
  private weight = 0
  private read: number

  /** `read`: records that an earlier run has finished. */
  constructor(read = 0) {
    this.read = read
  }

  /** Adds a record; returns the batch before it if that is full. */
  add({ line, fault }: SourceRecord, translated: Translated, bytes: number): Batch | undefined {
    const full = this.isFull() && (translated.user === undefined || translated.user !== this.lastUser)
    const done = full ? this.take() : undefined
    this.read += 1
    Object.assign(this.batch, { records: this.read, line, bytes })
    this.lastUser = translated.user
    const { user, devices, problems } = translated
    const about = { line, ...(user !== undefined && { user }) }
    for (const { part, reason } of problems) this.batch.notTaken.push({ ...about, not_taken: part, reason })
    if (fault === undefined && !problems.some(({ part }) => part === 'line')) {
      if (user !== undefined || devices.length > 0) this.put(line, translated)
      else if (problems.length === 0)
        this.batch.notTaken.push({ ...about, not_taken: 'line', reason: 'names neither a user nor a push token' })
    }
    return done
  }

  take(): Batch | undefined {
    const done = this.batch
    this.batch = this.fresh(this.read)
    this.byUser.clear()
    this.weight = 0
    return done.records > 0 && (done.entries.length > 0 || done.notTaken.length > 0 || done.line > 0) ? done : undefined
  }

  private isFull(): boolean {
    const { entries, devices, notTaken } = this.batch
    return (
      entries.length >= mostEntries ||
      devices >= mostDevices ||
      notTaken.length >= mostEntries ||
      this.weight >= mostBytes
    )
  }

  private put(line: number, { user, properties, preferences, created_at, last_seen_at, devices }: Translated): void {
    const known = user === undefined ? undefined : this.byUser.get(user)
    const joins = known && known.body.devices.length + devices.length <= mostDevicesOfUser
    const entry: Entry = joins ? known : { body: { devices: [] }, lines: [], deviceLines: [] }
    if (!joins) this.batch.entries.push(entry)
    if (user !== undefined) {
      entry.body.project_user_id = user
      this.byUser.set(user, entry)
    }
    entry.lines.push(line)
    entry.body.properties = { ...entry.body.properties, ...properties }
    if (preferences) entry.body.preferences = preferences
    const [created, seen] = [earlier(entry.body.created_at, created_at), later(entry.body.last_seen_at, last_seen_at)]
    if (created) entry.body.created_at = created
    if (seen) entry.body.last_seen_at = seen
    for (const device of devices) {
      entry.body.devices.push(device)
      entry.deviceLines.push(line)
    }
    this.batch.devices += devices.length
    for (const [name, value] of Object.entries(properties)) this.weight += name.length + String(value).length + 8
    this.weight += devices.length * 400
  }

  private fresh(records: number): Batch {
    return { entries: [], devices: 0, records, line: 0, bytes: 0, notTaken: [] }
  }
}

const earlier = (one?: string, two?: string) => (one && two ? (one < two ? one : two) : (one ?? two))
const later = (one?: string, two?: string) => (one && two ? (one > two ? one : two) : (one ?? two))

/** The lines of what the service did not store. */
export function refusalsOf(
  { entries }: Batch,
  errors: readonly { index: number; path: string; error: string; code: string }[]
): NotTaken[] {
  return errors.flatMap(({ index, path, error, code }): NotTaken[] => {
    const { body, lines, deviceLines } = entries[index]!
    const about = { ...(body.project_user_id !== undefined && { user: body.project_user_id }), code }
    const [, place, rest = ''] = /^devices\[(\d+)\](?:\.(.*))?$/.exec(path) ?? []
    const reason = (field: string) => (field === '' ? error : `${field}: ${error}`)
    if (place === undefined)
      return lines.map((line) => ({ line, ...about, not_taken: 'line' as const, reason: reason(path) }))
    const { id } = body.devices[Number(place)] as { id: string }
    // Properties of a line without a user belong to the anonymous user of its device.
    const [part, why] = rest === 'properties' ? (['properties', error] as const) : (['device', reason(rest)] as const)
    return [{ line: deviceLines[Number(place)]!, ...about, device: id, not_taken: part, reason: why }]
  })
}

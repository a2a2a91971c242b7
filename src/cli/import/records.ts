import type { Properties } from '../properties.ts'

/** One record of a file: the cells of a line, or an object. */
export interface SourceRecord<Value = unknown> {
  /** The line on which it begins. */
  line: number
  value: Value
  /** Why it cannot be read. */
  fault?: string
}

/** A device as POST /api/v1/users:import takes it. */
export type Device = Record<string, unknown> & { id: string }

/** A part of a record that cannot be moved. */
export interface Problem {
  reason: string
  /** `line`: nothing of it is taken. */
  part: 'line' | 'device' | 'properties'
}

/** A record in the words of Tidings. */
export interface Translated {
  user?: string
  properties: Properties
  preferences?: { opted_out: true }
  created_at?: string
  last_seen_at?: string
  devices: Device[]
  problems: Problem[]
}

/** Reads the records of a source, some at a time. */
export type Records = AsyncIterable<SourceRecord[]>

export const lost = (reason: string): Translated => ({
  properties: {},
  devices: [],
  problems: [{ reason, part: 'line' }]
})

/** The longest record: a user has at most 64 KiB of properties. */
export const longestRecord = 1024 * 1024

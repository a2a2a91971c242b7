import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { Refusal } from '../platform/errors.ts'
import { parseBounded } from '../platform/http/json/read.ts'
import type { ProjectId } from '../platform/ids.ts'
import { choicesIn, type GivenChoices } from './choices.ts'
import type { Users } from './users.ts'

export interface ImportOutcome {
  imported: number
  failed: number
  errors: { line: number; error: string; code: string }[]
}

const linesAtOnce = 500
/** Values of JSON take far more memory than their text. */
const bytesAtOnce = 2 * 1024 * 1024
const errorsShown = 100
/** A user has at most 64 KiB of properties; a much longer line is not a user, and must not fill the memory. */
const maxLineBytes = 1024 * 1024
/** More values than fit into the properties of a user. */
const bounds = { levels: 256, values: 50_000 }

/** Reads one user per line and writes them in batches, so that neither side needs to hold all of them. */
export async function importUsers(users: Users, projectId: ProjectId, body: Readable): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { imported: 0, failed: 0, errors: [] }
  let batch: { line: number; user: unknown }[] = []
  let batchBytes = 0

  async function flush(): Promise<void> {
    const taken = batch
    batch = []
    batchBytes = 0
    const choices = taken.map(({ user }) => choicesIn(user))
    const results = await users.putMany(
      projectId,
      taken.map(({ user }, index) => (choices[index] instanceof Refusal ? undefined : user))
    )
    const stored: GivenChoices[] = []
    for (const [index, result] of results.entries()) {
      const { line, user } = taken[index]!
      const chosen = choices[index]
      const refused = chosen instanceof Refusal ? { error: chosen.message, code: chosen.code } : result
      if ('properties' in refused) {
        outcome.imported += 1
        if (chosen && !(chosen instanceof Refusal))
          stored.push([(user as { project_user_id: string }).project_user_id, chosen])
      } else {
        outcome.failed += 1
        if (outcome.errors.length < errorsShown) outcome.errors.push({ line, ...refused })
      }
    }
    if (stored.length > 0) await users.mergeChoices(projectId, stored)
  }

  let line = 0
  try {
    for await (const bytes of linesOf(body)) {
      line += 1
      if (bytes.length > 0) batch.push({ line, user: await parseLine(bytes) })
      batchBytes += bytes.length
      if (batch.length >= linesAtOnce || batchBytes >= bytesAtOnce) await flush()
    }
  } finally {
    // Complete lines are imported also when the stream broke off.
    await flush()
    // The rest of the body is read and dropped; otherwise the connection would be stuck.
    body.resume()
  }
  return outcome
}

/** Returns undefined for a line that is not JSON; `putMany` refuses it. */
async function parseLine(bytes: Buffer): Promise<unknown> {
  try {
    return isUtf8(bytes) ? await parseBounded(bytes, bounds) : undefined
  } catch {
    return undefined
  }
}

async function* linesOf(body: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  // The request is not destroyed when reading ends early: its response still has to be sent.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      yield trimmed(rest.subarray(start, end))
      start = end + 1
    }
    rest = rest.subarray(start)
    if (rest.length > maxLineBytes) {
      throw new Refusal('malformed_body', 'A line is longer than 1 MiB; the lines before it were imported.')
    }
  }
  if (rest.length > 0) yield trimmed(rest)
}

/** Removes the carriage return of a Windows line; a line of nothing else is empty. */
const trimmed = (line: Buffer) => (line.at(-1) === 13 ? line.subarray(0, -1) : line)

import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { End, Endpoint } from '../../channels/channels.ts'
import { isPassing, type Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { locate } from '../dispatch/locate.ts'
import { isSettled, type MessageRow } from '../message.ts'
import type { Settler, Settling } from '../settle.ts'
import { findMessages, keyOf } from '../store.ts'
import { type JournalFile, type Line, readLines, readName } from './format.ts'

export interface RecoveryOptions {
  pool: Pool
  folder: string
  nodeId: string
  settler: Settler
  log: Log
}

export type Recovery = ReturnType<typeof createRecovery>

/** Rows that one statement reads. */
const batchSize = 500

/**
 * Settles what processes with this data folder noted before they died. A process that takes over messages of a dead one
 * calls it first. It is harmless if that process lives, or if two others do it at once: a line says what a gateway has
 * accepted, and a settled message stays unchanged.
 */
export function createRecovery({ pool, folder, nodeId, settler, log }: RecoveryOptions) {
  let running: Promise<void> = Promise.resolve()
  let complained = false

  async function recover(isDead: (file: JournalFile) => boolean): Promise<void> {
    const names = await readdir(folder).catch(() => [])
    for (const file of names.flatMap((name) => readName(name) ?? []))
      if (file.nodeId !== nodeId && isDead(file)) await settleFile(join(folder, file.name))
  }

  async function settleFile(path: string): Promise<void> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || complained) return
      complained = true
      log.warn({ error: error.message, path }, 'a journal of outcomes cannot be read: its messages are sent again')
    })
    if (text === undefined) return
    let settled = 0
    for (const [projectId, lines] of readLines(text))
      for (let from = 0; from < lines.length; from += batchSize)
        settled += await settleSome(projectId, lines.slice(from, from + batchSize))
    if (settled > 0) log.info({ settled }, 'outcomes that a dead process had noted were recorded')
    // Only now: until the rows are settled, another process that takes them over must find the file too.
    if (!settler.closed) await unlink(path).catch(() => {})
  }

  async function settleSome(projectId: ProjectId, lines: Line[]): Promise<number> {
    try {
      const settlings = await settlingsOf(projectId, lines)
      await Promise.all(settlings.map((settling) => settler.settle(projectId, settling)))
      return settlings.length
    } catch (error) {
      if (isPassing(error)) throw error
      log.error({ error, projectId }, 'outcomes that a dead process had noted could not be recorded')
      return 0
    }
  }

  async function settlingsOf(projectId: ProjectId, lines: Line[]): Promise<Settling[]> {
    const byKey = new Map(lines.map((line) => [keyOf(line), line]))
    const open = (await findMessages(pool, projectId, [...byKey.values()])).filter((row) => !isSettled(row))
    if (open.length === 0) return []
    const endpoints = await locate(pool, projectId, open)
    return open.map((row) => settlingOf(row, byKey.get(keyOf(row))!, endpoints.get(row)))
  }

  function inTurn(isDead: (file: JournalFile) => boolean): Promise<void> {
    running = running.catch(() => {}).then(() => recover(isDead))
    return running
  }

  return {
    /** Before a takeover: settles what dead nodes had noted. */
    ofNodes: (isDead: (nodeId: string) => boolean): Promise<void> => inTurn((file) => isDead(file.nodeId)),
    /** At a start: settles what earlier processes of this machine had noted, before other nodes know that they died. */
    ofEarlierProcesses: (): Promise<void> =>
      inTurn(({ pid }) => isGone(pid)).catch((error: Error) => {
        log.warn({ error: error.message }, 'outcomes that earlier processes had noted are recorded later')
      })
  }
}

function settlingOf(row: MessageRow, { attempts, gateway_message_id }: Line, endpoint: Endpoint | string | undefined) {
  const said = { reason: null, reason_message: null, gateway_code: null }
  const settlement = {
    ...row,
    ...said,
    state: 'accepted' as const,
    due_at: null,
    attempts,
    gateway_message_id,
    claimed: { owner: row.owner, due_at: row.due_at }
  }
  const outcome = { kind: 'accepted' as const, gatewayMessageId: gateway_message_id ?? '' }
  const end: End | undefined = typeof endpoint === 'object' ? { message: row, endpoint, outcome } : undefined
  return { settlement, end }
}

/** Whether no process has this number. A file of this process's own number is of an earlier one. */
function isGone(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

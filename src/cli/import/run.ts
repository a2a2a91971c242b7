import { Ended, exit, Failure } from '../exit.ts'
import { amount, counted, printable } from '../output.ts'
import { showProgress } from '../progress.ts'
import { tell } from '../session.ts'
import { interruption, remark, type Shell } from '../shell.ts'
import { type Batch, Gatherer, refusalsOf } from './batches.ts'
import { createLanes, tried } from './lanes.ts'
import { lost, type SourceRecord, type Translated } from './records.ts'
import { type Service, type Stored, sendsTo } from './sending.ts'
import { openSource, type Source } from './source.ts'
import { fingerprintOf, openReport } from './state.ts'

/** A format: reads a source, and yields each record with its translation. */
export type Read = (source: Source) => AsyncIterable<{ record: SourceRecord; translated: Translated }[]>

export interface ImportOptions {
  dryRun?: true
  restart?: true
  report?: string
  json?: true
}

interface Given {
  shell: Shell
  file: string
  /** Names the format and what else decides how lines are read. */
  form: unknown
  read: Read
  options: ImportOptions
  /** Absent for a dry run. */
  service?: Service
}

const reasonsShown = 10
const mostReasons = 1_000

/** Runs an import to its end, or to the point from which the next run goes on. */
export async function runImport({ shell, file, form, read, options, service }: Given): Promise<void> {
  const { dryRun, restart, json } = options
  const source = await openSource(shell, file)
  const reportFile =
    options.report ?? `${file === '-' ? 'standard-input' : file}.${dryRun ? 'dry-run' : 'import'}.jsonl`
  const canResume = !dryRun && source.size !== undefined
  const fingerprint = canResume
    ? await fingerprintOf(file, source.size!, [form, service?.url, service?.project])
    : undefined
  const report = await openReport(reportFile, fingerprint, restart === true)
  if (report.resumed && !json)
    remark(
      shell,
      `Going on after ${counted(report.state.records, 'record')} of an interrupted run. --restart begins anew.`
    )
  const reasons = new Map<string, number>()
  const progress = showProgress(shell.stderr, dryRun ? 'Checking' : 'Importing', source.size)
  const interrupt = interruption(shell)
  const lanes = createLanes(service ? sendsTo(service, interrupt) : tried, async (batch, stored) => {
    await settle(report, batch, stored, reasons)
    progress.at(batch.bytes, report.state.users)
  })
  try {
    await feed(read(source), lanes, report.state.records, source, interrupt)
    await lanes.end()
    if (interrupt.aborted) throw new Failure(exit.interrupted, 'interrupted', 'Interrupted.')
  } catch (error) {
    await lanes.abandon()
    progress.end()
    await report.interrupt()
    throw explained(error, report.state, canResume)
  }
  progress.end()
  await report.finish()
  const { records, users, devices, notTaken } = report.state
  const done = dryRun ? 'Checked' : 'Imported'
  const outcome = {
    dry_run: dryRun === true,
    records,
    users,
    devices,
    not_taken: notTaken,
    report: notTaken > 0 ? reportFile : null
  }
  tell(
    { shell, json: json === true },
    outcome,
    `${done} ${counted(records, 'record')}: ${counted(users, 'user')} and ${counted(devices, 'device')}.`
  )
  if (notTaken === 0) return
  if (!json) tellReasons(shell, reasons, notTaken, reportFile)
  throw new Ended(exit.failure)
}

async function feed(
  read: AsyncIterable<{ record: SourceRecord; translated: Translated }[]>,
  lanes: ReturnType<typeof createLanes>,
  skipped: number,
  source: Source,
  interrupt: AbortSignal
): Promise<void> {
  const gatherer = new Gatherer(skipped)
  let seen = 0
  for await (const some of read)
    for (const { record, translated } of some) {
      if (interrupt.aborted) return
      seen += 1
      if (seen <= skipped) continue
      const taken = record.fault === undefined ? translated : lost(record.fault)
      const batch = gatherer.add(record, taken, source.read())
      if (batch) await lanes.push(batch)
    }
  const last = gatherer.take()
  if (last) await lanes.push(last)
}

async function settle(
  report: Awaited<ReturnType<typeof openReport>>,
  batch: Batch,
  stored: Stored,
  reasons: Map<string, number>
): Promise<void> {
  const notTaken = [...batch.notTaken, ...refusalsOf(batch, stored.errors)].sort((one, two) => one.line - two.line)
  for (const { reason } of notTaken)
    if (reasons.has(reason) || reasons.size < mostReasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const { users, devices } = report.state
  await report.note(
    { records: batch.records, users: users + stored.users, devices: devices + stored.devices },
    notTaken
  )
}

function tellReasons(shell: Shell, reasons: ReadonlyMap<string, number>, notTaken: number, file: string): void {
  remark(shell, `Not taken: ${amount(notTaken)}, each with its line in ${file}`)
  const most = [...reasons].sort(([, one], [, two]) => two - one).slice(0, reasonsShown)
  for (const [reason, count] of most) remark(shell, `  ${amount(count).padStart(9)}  ${printable(reason)}`)
  if (reasons.size > most.length)
    remark(shell, `             and ${counted(reasons.size - most.length, 'other reason')}`)
}

function explained(error: unknown, { records }: { records: number }, canResume: boolean): unknown {
  if (!(error instanceof Failure)) return error
  const next = canResume
    ? `${counted(records, 'record')} of the file are done. Run the same command again to go on.`
    : 'The import can be repeated safely.'
  return new Failure(error.exitCode as typeof exit.failure, error.code, `${error.message} ${next}`, {
    details: error.details
  })
}

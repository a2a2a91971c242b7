import { createHash } from 'node:crypto'
import { readAudience } from '../../campaigns/audience/request.ts'
import { type Campaign, parseCampaign, unknownFields } from '../../campaigns/definition/definition.ts'
import { readWarnings, warningsOf } from '../../campaigns/definition/warnings.ts'
import { type Detail, Refusal } from '../../platform/errors.ts'
import { problemsOf } from '../../platform/http/validation.ts'
import { checkSegmentId } from '../../segments/saved/saved.ts'
import { SegmentBody } from '../../segments/saved/schemas.ts'
import { readSegment, refsIn, type Segment } from '../../segments/segments.ts'
import { Failure } from '../exit.ts'
import type { Shell } from '../shell.ts'
import {
  campaignKind,
  type FiledCampaign,
  filesOf,
  type PlacedDetail,
  readEach,
  repeated,
  segmentKind
} from './files.ts'

/** One finding in a file. */
export interface Problem extends PlacedDetail {
  file: string
  severity: 'error' | 'warning'
}

export interface Linted {
  files: number
  campaigns: number
  segments: number
  problems: Problem[]
}

/** Checks files as the service does when it saves them, as far as that needs no database. */
export async function lint(shell: Shell, paths: readonly string[]): Promise<Linted> {
  const files = await filesOf(paths)
  const [campaigns, segments, problems]: [FiledCampaign[], FiledCampaign[], Problem[]] = [[], [], []]
  for (const file of files)
    for (const one of await readEach(shell, file, [campaignKind, segmentKind])) {
      if (one instanceof Failure)
        problems.push(...one.details.map((detail) => ({ ...detail, file, severity: 'error' as const })))
      else if (Object.hasOwn(one.campaign, campaignKind.id)) campaigns.push(one)
      else segments.push(one)
    }
  const add = (filed: FiledCampaign, severity: Problem['severity'], details: readonly Detail[]) =>
    problems.push(...filed.placed(details).map((detail) => ({ ...detail, file: filed.file, severity })))
  for (const list of [campaigns, segments])
    for (const filed of repeated(list))
      add(filed, 'error', [
        { path: list === campaigns ? campaignKind.id : segmentKind.id, message: `stands in ${filed.first} too` }
      ])
  const known = new Set(segments.map(({ id }) => id))
  for (const filed of segments) add(filed, 'error', segmentProblems(filed, known))
  for (const filed of campaigns) {
    const { errors, warnings } = await campaignProblems(filed, known)
    add(filed, 'error', errors)
    add(filed, 'warning', warnings)
  }
  problems.sort((one, two) =>
    one.file === two.file ? (one.line ?? 0) - (two.line ?? 0) : one.file < two.file ? -1 : 1
  )
  return { files: files.length, campaigns: campaigns.length, segments: segments.length, problems }
}

async function campaignProblems(
  { campaign }: FiledCampaign,
  known: ReadonlySet<string>
): Promise<{ errors: readonly Detail[]; warnings: Detail[] }> {
  const unknown = unknownFields(campaign).map((path) => ({
    path,
    message: 'is not a field of a campaign, and is ignored'
  }))
  try {
    const parsed = parseCampaign(campaign)
    if (parsed.default_audience) readAudience(parsed.default_audience, 'default_audience')
    return { errors: missingRefs(parsed.segment, known), warnings: [...unknown, ...(await toldBy(parsed))] }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { errors: error.details, warnings: unknown }
  }
}

/** The warnings of the service are sentences; most begin with a path. */
async function toldBy(campaign: Campaign): Promise<Detail[]> {
  await readWarnings([campaign])
  return warningsOf(campaign).map((warning) => {
    const [, path = '', message = warning] = /^([a-z_]+(?:[.[][\w.[\]-]+)?) (.*)$/s.exec(warning) ?? []
    return { path, message }
  })
}

function segmentProblems({ id, campaign }: FiledCampaign, known: ReadonlySet<string>): Detail[] {
  const problems: Detail[] = problemsOf(SegmentBody)(campaign)
  try {
    checkSegmentId(id)
  } catch (error) {
    problems.push({ path: segmentKind.id, message: (error as Refusal).message.replace(/^segment_id: /, '') })
  }
  if (problems.length > 0) return problems
  const segment = readSegment(campaign.segment, 'segment', problems)
  return problems.length > 0 ? problems : missingRefs(segment, known)
}

/** Only with files of saved segments: otherwise the service alone knows which there are. */
const missingRefs = (segment: Segment, known: ReadonlySet<string>): Detail[] =>
  known.size === 0
    ? []
    : refsIn(segment).flatMap(({ id, path }) =>
        known.has(id) ? [] : [{ path, message: `there is no saved segment "${id}" in these files` }]
      )

const sentence = ({ path, message }: Problem) => (path === '' ? message : `${path}: ${message}`)

/** As compilers print problems, which editors and terminals can open. */
export const asText = (problem: Problem): string =>
  `${problem.file}:${problem.line ?? 1}:${problem.column ?? 1}: ${problem.severity}: ${sentence(problem)}`

/** A command of a GitHub workflow: it shows the problem beside its line in a pull request. */
export function asGithub(problem: Problem): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  const { file, line = 1, column = 1, severity } = problem
  return `::${severity} file=${property(file)},line=${line},col=${column}::${data(sentence(problem))}`
}

/** The Code Quality report of GitLab, which shows problems in a merge request. */
export const asGitlab = (problems: readonly Problem[]): string =>
  JSON.stringify(
    problems.map((problem) => ({
      description: sentence(problem),
      check_name: 'tidings-campaign',
      fingerprint: createHash('sha256')
        .update(`${problem.file}\n${sentence(problem)}`)
        .digest('hex'),
      severity: problem.severity === 'error' ? 'major' : 'minor',
      location: { path: problem.file, lines: { begin: problem.line ?? 1 } }
    })),
    null,
    2
  )

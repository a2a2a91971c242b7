import { setImmediate } from 'node:timers/promises'
import { durationRule, parseDuration } from '../../platform/duration.ts'
import { type Detail, Refusal, type RefusalCode } from '../../platform/errors.ts'
import { checkChosenId, isObject } from '../../platform/fields.ts'
import { problemsOf } from '../../platform/http/validation.ts'
import { isTimeZone } from '../../platform/time.ts'
import { readSegment, type Segment } from '../../segments/segments.ts'
import { isTemplate, readTemplate, templateDepth, templatesOf } from '../../templates/templates.ts'
import { conditionProblems, journeyProblems } from './journey-rules.ts'
import { everyMessage } from './messages.ts'
import { preferenceProblems } from './preference-rules.ts'
import { richProblems } from './rich.ts'
import { cannotRun } from './running.ts'
import { scheduleProblems } from './schedule-rules.ts'
import { type CampaignFields, CampaignSchema, type Message, type Target } from './schema.ts'
import { textProblems } from './text-rules.ts'

export { everyMessage } from './messages.ts'
export type { Audience, Message, QuietHours, Schedule, Target } from './schema.ts'
export { AudienceSchema, CampaignSchema, QuietHoursSchema, TargetSchema } from './schema.ts'

/** A checked campaign. `type`, `status`, `segment` and the fields of `quiet_hours` have a value, their default included. */
export type Campaign = Omit<CampaignFields, 'segment'> & { segment: Segment }

let schemaProblems: ((value: unknown) => Detail[]) | undefined

/**
 * Checks a campaign of a request or a file, and returns it with its defaults. The refusal lists all problems with their
 * paths. `checkPatterns` checks the patterns of the segment in PostgreSQL.
 */
export function parseCampaign(value: unknown): Campaign {
  const steps = readCampaign(value)
  for (;;) {
    const { done, value: campaign } = steps.next()
    if (done) return campaign
  }
}

/**
 * Checks a campaign like `parseCampaign`, with pauses, for the service: parsing a hostile template takes 30 ms, and a
 * campaign has several.
 */
export async function parseCampaignInTurns(value: unknown): Promise<Campaign> {
  const steps = readCampaign(value)
  for (;;) {
    const { done, value: campaign } = steps.next()
    if (done) return campaign
    await setImmediate()
  }
}

/** Pauses after each long template. */
function* readCampaign(value: unknown): Generator<undefined, Campaign> {
  if (!isObject(value)) throw refuse('invalid_campaign', [{ path: 'campaign', message: 'must be an object' }])
  const campaign = complete(value)
  // Compiled on first use, so that the start of the service does not wait for it.
  schemaProblems ??= problemsOf(CampaignSchema)
  const general = schemaProblems({ ...campaign, segment: {} })
  const [segment, templates]: [Detail[], Detail[]] = [[], []]
  if (!general.some(({ path }) => path.startsWith('segment')))
    campaign.segment = readSegment(value.segment, 'segment', segment)
  const faulty = new Set(general.map(({ path }) => path))
  // Rules over several fields rely on types, so they check only fields whose types are right.
  const roots = new Set(general.map(({ path }) => path.split(/[.[]/)[0]!))
  const sound = Object.fromEntries(Object.entries(campaign).filter(([name]) => !roots.has(name))) as Campaign
  general.push(...conditionProblems(campaign, general), ...meaningProblems(sound, roots))
  const { live_activity, ...others } = campaign
  const fits = roomAfter(live_activity, mostActivity) >= 0
  yield* readTemplates({ ...others, ...(fits && { live_activity }) }, templates)
  // A template that is not a text, or too long, has a problem already.
  const fresh = templates.filter(({ path }) => !faulty.has(path))
  const code = general.length > 0 || (segment.length > 0 && fresh.length > 0) ? 'invalid_campaign' : undefined
  const problems = [...general, ...segment, ...fresh]
  if (problems.length > 0) throw refuse(code ?? (segment.length > 0 ? 'invalid_segment' : 'invalid_template'), problems)
  const lacks = campaign.status === 'active' ? cannotRun(campaign as Campaign) : []
  if (lacks.length > 0) throw refuse('campaign_cannot_run', lacks)
  return campaign as Campaign
}

/** Fields that responses or editors add. They are ignored without a warning. */
const harmless = new Set(['version', 'created_at', 'updated_at', 'winners', 'next_at', 'warnings', 'result', '$schema'])

/** Returns the paths of fields that a campaign does not have. They are ignored, but a misspelt one deserves a warning. */
export function unknownFields(value: unknown, schema: { properties?: object } = CampaignSchema, path = ''): string[] {
  const { properties } = schema as { properties?: Record<string, object> }
  if (!isObject(value) || !properties) return []
  const found = Object.entries(value).flatMap(([name, inner]) =>
    Object.hasOwn(properties, name)
      ? unknownFields(inner, properties[name], `${path}${name}.`)
      : path === '' && harmless.has(name)
        ? []
        : `${path}${name}`
  )
  return found.slice(0, 20)
}

const refuse = (code: RefusalCode, problems: Detail[]) =>
  new Refusal(code, `${problems[0]!.path}: ${problems[0]!.message}`, problems)

/** Keeps known fields and adds defaults. */
function complete(value: Record<string, unknown>): Record<string, unknown> {
  const campaign: Record<string, unknown> = { type: 'api_triggered', status: 'draft' }
  for (const name of Object.keys(CampaignSchema.properties))
    if (Object.hasOwn(value, name) && value[name] !== undefined) campaign[name] = value[name]
  if (isObject(campaign.quiet_hours))
    campaign.quiet_hours = { timezone: 'device', action: 'hold', ...campaign.quiet_hours }
  return campaign
}

/** Rules that a schema cannot express. `roots`: fields that are missing here, because the schema refused them. */
function meaningProblems(campaign: Campaign, roots: ReadonlySet<string>): Detail[] {
  const { campaign_id, message, variants, steps, live_activity, frequency_cap, quiet_hours, default_audience } =
    campaign
  const problems: Detail[] = []
  const add = (path: string, text: string) => void problems.push({ path, message: text })
  if (campaign_id !== undefined) {
    try {
      checkChosenId(campaign_id, 255, (text) => new Refusal('invalid_campaign', text))
    } catch (error) {
      add('campaign_id', (error as Refusal).message)
    }
  }
  if (live_activity && roomAfter(live_activity, mostActivity) < 0)
    add('live_activity', `must be at most ${mostActivity} characters of JSON`)
  const contents = [
    ['message', message],
    ['variants', variants],
    ['steps', steps]
  ] as const
  const given = contents.filter(([, content]) => content).map(([name]) => name)
  if (given.length > 1) add(given[1]!, `must not be given beside ${given[0]}`)
  const refused = ['message', 'variants', 'steps', 'live_activity'].some((name) => roots.has(name))
  if (given.length === 0 && !live_activity && !refused)
    add('message', 'must be given, or variants, steps or live_activity')
  if (frequency_cap && parseDuration(frequency_cap.within) === undefined) add('frequency_cap.within', durationRule)
  if (quiet_hours) {
    if (quiet_hours.from === quiet_hours.to) add('quiet_hours.to', 'must not be the same time as from')
    const { timezone } = quiet_hours
    if (timezone !== 'device' && timezone !== 'user' && !isTimeZone(timezone))
      add('quiet_hours.timezone', 'must be device, user or the IANA name of a time zone, such as Asia/Seoul')
  }
  problems.push(...preferenceProblems(campaign), ...textProblems(campaign))
  for (const { path, message } of everyMessage(campaign))
    problems.push(...messageProblems(message, path), ...richProblems(message, path))
  problems.push(...journeyProblems(campaign), ...scheduleProblems(campaign))
  for (const [index, target] of (default_audience?.targets ?? []).entries())
    if (addresses(target) !== 1 && problems.length < mostProblems)
      add(`default_audience.targets[${index}]`, 'must have exactly one of project_user_id, device_id, user_id')
  return problems
}

function messageProblems({ title, body, translations, ...links }: Message, path: string): Detail[] {
  const problems: Detail[] = title || body || links.silent ? [] : [{ path, message: 'must have a title or a body' }]
  const all = [
    [path, links] as const,
    ...Object.entries(translations ?? {}).map(([tag, one]) => [`${path}.translations.${tag}`, one] as const)
  ]
  for (const [place, { image_url, landing_url }] of all) {
    if (image_url && !isTemplate(image_url) && !isUrl(image_url, /^https?:$/))
      problems.push({ path: `${place}.image_url`, message: 'must be an address with http or https' })
    if (landing_url && !isTemplate(landing_url) && !isUrl(landing_url))
      problems.push({
        path: `${place}.landing_url`,
        message: 'must be an absolute address, such as https://… or app://…'
      })
  }
  return problems
}

const addresses = ({ project_user_id, device_id, user_id }: Target) =>
  [project_user_id, device_id, user_id].filter((one) => one !== undefined).length

const isUrl = (text: string, protocol = /./) => URL.canParse(text) && protocol.test(new URL(text).protocol)

function* readTemplates(campaign: Parameters<typeof templatesOf>[0], problems: Detail[]): Generator<undefined> {
  let read = 0
  for (const [path, source] of templatesOf(campaign)) {
    if (problems.length >= mostProblems) return
    if (source === undefined) problems.push({ path, message: `must not be nested deeper than ${templateDepth} levels` })
    else if (isKnown(source)) continue
    else {
      const before = problems.length
      readTemplate(source, path, problems)
      if (problems.length === before) know(source)
    }
    read += source?.length ?? 0
    if (read < longTemplate) continue
    read = 0
    yield
  }
}

/**
 * Templates that were parsed without a problem, the oldest first. An editor previews and saves the same texts again and
 * again: parsing the 1.5 MB of a campaign in 13 languages takes seconds, and most of them did not change.
 */
const known = new Set<string>()
let knownLength = 0
const mostKnown = 4_194_304

const isKnown = (source: string) => known.has(source)

function know(source: string): void {
  known.add(source)
  knownLength += source.length
  for (const oldest of known) {
    if (knownLength <= mostKnown) return
    known.delete(oldest)
    knownLength -= oldest.length
  }
}

const mostProblems = 50
/** Parsing as many characters takes a few milliseconds at most. */
const longTemplate = 2_048
/** Characters of a Live Activity, its names and values together. A push carries 4 KiB. */
const mostActivity = 65_536

/** The room that is left after a value, in characters; negative if it is too small. Deeper levels are refused anyway. */
function roomAfter(value: unknown, room: number, depth = 0): number {
  if (typeof value === 'string') return room - value.length - 2
  let left = room - 4
  if (typeof value !== 'object' || value === null || depth > templateDepth) return left
  for (const name in value) {
    if (left < 0) break
    left = roomAfter((value as Record<string, unknown>)[name], left - name.length, depth + 1)
  }
  return left
}

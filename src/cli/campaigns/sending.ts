import type { Command } from 'commander'
import { newId } from '../../platform/ids.ts'
import type { DeliveryResults, Preview } from '../../wire.ts'
import { segment } from '../client.ts'
import { Ended, exit, usageFailure } from '../exit.ts'
import { amount, counted, printable, record, shortened, table } from '../output.ts'
import { type Common, connect, examples, inProject, reaching, type Session, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import type { FiledCampaign } from './files.ts'
import { shownTrigger, watchTrigger } from './trigger-progress.ts'
import {
  propertiesOf,
  propertyNote,
  type RequestOptions,
  requestOf,
  several,
  withAudience,
  withProperties
} from './trigger-request.ts'

export function declareTrigger(parent: Command, shell: Shell): void {
  const command = withAudience(parent.command('trigger <campaign>').description('Trigger a campaign'))
  command
    .option('--idempotency-key <key>', 'Makes the command safe to repeat for a day')
    .option('--send-at <time>', 'When it is sent, at most 90 days ahead: 2026-12-24T18:00Z')
    .option('--watch', 'Show the progress until it ends')
  reaching(command, 'project')
  examples(
    command,
    [
      'tidings campaign trigger welcome --user ana --property code=SPRING',
      'tidings campaign trigger news --broadcast --watch',
      'tidings campaign trigger news --users-from users.txt',
      'tidings campaign trigger news --broadcast --send-at 2026-12-24T18:00+01:00'
    ],
    `Without --user, --users-from, --device and --broadcast, it goes to the default
audience of the campaign. With --watch, it ends with 1 if a message failed.
${propertyNote}`
  )
  command.action(async (id: string, options: Common & RequestOptions & { idempotencyKey?: string; watch?: true }) => {
    const body = await requestOf(shell, options)
    const session = await connect(shell, options)
    const path = inProject(session, `/api/v1/campaigns/${segment(id)}:trigger`)
    const accepted = await session.client.json<{ trigger_id: string }>('POST', path, {
      body,
      // The key lets the client repeat the request when the response was lost.
      headers: { 'idempotency-key': options.idempotencyKey ?? newId() },
      repeatable: true
    })
    if (!options.watch) return tell(session, accepted, record([['Trigger', accepted.trigger_id]]))
    const trigger = await watchTrigger(session, accepted.trigger_id)
    tell(session, trigger, shownTrigger(trigger))
    if (trigger.state !== 'completed' || trigger.counts.failed > 0) throw new Ended(exit.failure)
  })
}

export function declarePreview(parent: Command, shell: Shell): void {
  const command = withAudience(
    parent.command('preview [campaign]').description('Show the recipients and messages of a trigger, sending nothing')
  ).option('-f, --file <file>', 'Preview the campaign of this file instead of a saved one')
  reaching(command, 'project')
  examples(
    command,
    [
      'tidings campaign preview welcome --broadcast',
      'tidings campaign preview -f welcome.yaml --user ana --property code=SPRING'
    ],
    propertyNote
  )
  command.action(async (id: string | undefined, options: Common & RequestOptions & { file?: string }) => {
    const body = await requestOf(shell, options)
    const filed = await campaignIn(shell, id, options.file)
    const session = await connect(shell, options)
    const found = await (filed
      ? draftPreview(session, filed, body)
      : session.client.json<Preview>('POST', inProject(session, `/api/v1/campaigns/${segment(id!)}:preview`), {
          body,
          repeatable: true
        }))
    tell(session, found, shownPreview(found))
    if (!session.json) for (const warning of found.warnings ?? []) remark(shell, `Warning: ${printable(warning)}`)
  })
}

async function draftPreview(session: Session, filed: FiledCampaign, body: object): Promise<Preview> {
  const { withPlaces } = await import('./files.ts')
  return withPlaces(filed, () =>
    session.client.json<Preview>('POST', inProject(session, '/campaigns:preview'), {
      body: { campaign: filed.campaign, ...body },
      repeatable: true
    })
  )
}

async function campaignIn(
  shell: Shell,
  id: string | undefined,
  file: string | undefined
): Promise<FiledCampaign | undefined> {
  if ((id === undefined) === (file === undefined)) throw usageFailure('Give either the id of a campaign or --file.')
  if (file === undefined) return undefined
  const { readCampaigns } = await import('./files.ts')
  const [filed, ...more] = await readCampaigns(shell, [file])
  if (more.length > 0) throw usageFailure(`${file} holds ${more.length + 1} campaigns. Preview one at a time.`)
  return filed
}

function shownPreview({ audience, sample, texts, missing_values: missing }: Preview): string {
  const least = audience.complete ? '' : 'at least '
  const reached = `${least}${counted(audience.devices, 'device')} of ${least}${counted(audience.users, 'user')}`
  const why = audience.reason ? ` (${audience.reason})` : ''
  const lines = [`It would go to ${reached}${why}${unrendered(sample)}.`]
  const { visited, about } = audience
  if (visited)
    lines.push(`Counted ${about ? `${amount(visited)} of about ${counted(about, 'user')}` : counted(visited, 'user')}.`)
  if (audience.deferred > 0) lines.push(`Of these later, when quiet hours are over: ${amount(audience.deferred)}`)
  for (const [word, count] of Object.entries(audience.skipped)) lines.push(`Skipped for ${word}: ${amount(count)}`)
  for (const [name, count] of Object.entries(missing.names))
    lines.push(`Without a value and a default: ${name}, for ${count} of ${counted(missing.sampled, 'device')} tried`)
  if (texts.length > 0) lines.push('', sideBySide(texts))
  if (sample.length === 0) return lines.join('\n')
  const rows = sample.map(({ project_user_id, device_id, reason, content, payload_bytes }) => {
    const { title, body } = content?.notification ?? {}
    const words = content?.activity ? JSON.stringify(content.activity) : [title, body].filter(Boolean).join(': ')
    return [project_user_id, device_id, reason?.split(': ')[0], payload_bytes, shortened(words, 60)]
  })
  return `${lines.join('\n')}\n\n${table(['user', 'device', 'skipped for', 'bytes', 'message'], rows)}`
}

/** Devices are counted before their texts are rendered, so that a template that fails is not in their number. */
function unrendered(sample: Preview['sample']): string {
  const faults = sample.flatMap(({ reason }) => /^template_failed: (.+)$/s.exec(reason ?? '')?.[1] ?? [])
  if (faults.length === 0) return ''
  const why = printable([...new Set(faults)].join('; '))
  return `, but the text cannot be rendered for ${amount(faults.length)} of the ${amount(sample.length)} tried: ${why}`
}

/** Every variant and language of a campaign. */
function sideBySide(texts: Preview['texts']): string {
  const rows = texts.map(({ step, variant, language, content, reason }) => {
    const { title, body } = content?.notification ?? {}
    return [step, variant, language, reason ?? shortened([title, body].filter(Boolean).join(': '), 80)]
  })
  return table(['step', 'variant', 'language', 'text'], rows)
}

interface TestOptions {
  device: string[]
  step?: string
  variant?: string
  language?: string
}

export function declareTest(parent: Command, shell: Shell): void {
  const command = parent.command('test <campaign>').description('Send a campaign to chosen devices now')
  command.requiredOption('--device <device>', 'A device; may be repeated, 20 at most', several)
  command.option('--step <step>', 'This step, instead of the first')
  command.option('--variant <variant>', 'This variant, instead of that of each user')
  command.option('--language <tag>', 'This language, instead of that of each device')
  reaching(withProperties(command), 'project')
  examples(
    command,
    [
      'tidings campaign test welcome --device ana-phone --property code=SPRING',
      'tidings campaign test sale --device ana-phone --variant short --language de'
    ],
    `Ignores the segment, the status and the limits of the campaign, and makes no
trigger. Ends with 1 if a device did not get it.
${propertyNote}`
  )
  command.action(async (id: string, options: Common & RequestOptions & TestOptions) => {
    const session = await connect(shell, options)
    const path = inProject(session, `/campaigns/${segment(id)}:test`)
    const { device, step, variant, language } = options
    const body = { device_ids: device, properties: propertiesOf(options), step, variant, language }
    const sent = await session.client.json<DeliveryResults>('POST', path, { body })
    const results = sent.delivery_results.map(
      ({ status, additional_params: { device_id, failure_reason } }, index) => ({
        device: device_id || options.device[index]!,
        outcome: status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase(),
        why: failure_reason
      })
    )
    const text = table(
      ['device', 'outcome', 'reason'],
      results.map(({ device, outcome, why }) => [device, outcome, why])
    )
    tell(session, sent, text)
    const failed = results.filter(({ outcome }) => outcome !== 'succeed')
    if (failed.length === 0) return
    if (!session.json) remark(shell, `\n${printable(failed.map(({ device }) => device).join(', '))} did not get it.`)
    throw new Ended(exit.failure)
  })
}

import { payloadSize } from '../../channels/channels.ts'
import { usualGateway } from '../../gateways/gateways.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type Recipient, type Rendered, TemplateFailed, ValuesMissing } from '../../templates/templates.ts'
import type { Choices } from '../../users/users.ts'
import { findEndpoints } from '../audience/endpoints.ts'
import { loadRecipients } from '../audience/recipients-store.ts'
import { everyMessage } from '../definition/definition.ts'
import { lookUpWinners } from '../texts/winner.ts'
import type { Ready } from '../versions.ts'
import type { Preview } from './schemas.ts'

/** How long the sample waits for its turn to be rendered. */
const renderMs = 10_000
/** Devices whose messages are shown; more are rendered, to count missing values. */
const shownDevices = 5
/** Texts that are shown side by side. */
const mostTexts = 50

/** A device whose message is rendered; `own`: the properties that its target gives it. */
type Reader = Recipient & { own: Record<string, unknown> | undefined }
type Trigger = { properties: Record<string, unknown> }
type Shown = Pick<Preview, 'sample' | 'texts' | 'missing_values'>

/** Renders the message of some devices, and every text of the campaign for the first of them. */
export async function sampleOf(
  pool: Pool,
  projectId: ProjectId,
  ready: Ready,
  trigger: Trigger,
  found: {
    sample: string[]
    own: ReadonlyMap<string, Record<string, unknown>>
    /** Why devices would get nothing, as far as they were examined one by one. */
    reasons: ReadonlyMap<string, string>
    /** Why a user with these choices does not want the message. */
    refusalOf(choices: Choices | null): string | undefined
  }
): Promise<Shown> {
  const loaded = await loadRecipients(pool, projectId, found.sample)
  const { definition, heldOut } = ready
  const targets = await findEndpoints(pool, projectId, definition.live_activity, loaded)
  const refusalOf = ({ device_id, choices }: (typeof loaded)[number]) =>
    found.reasons.get(device_id) ?? found.refusalOf(choices)
  const isReached = (one: (typeof loaded)[number]) => !refusalOf(one) && typeof targets.get(one.device_id) === 'object'
  // Devices that would get it are shown first: their message is the one to look at.
  const recipients = [...loaded.filter(isReached), ...loaded.filter((one) => !isReached(one))].map((one) => ({
    ...one,
    own: found.own.get(one.device_id)
  }))
  const texts = ready.texts(null)
  const campaignId = definition.campaign_id ?? ''
  const winnerOf = await lookUpWinners(pool, projectId, [{ campaignId, texts }])
  const choices = recipients.map((recipient) => texts.choose(recipient, winnerOf(campaignId, texts)))
  const rendered = await texts.rendering.for(trigger)(
    recipients,
    Date.now() + renderMs,
    choices.map(({ text }) => text)
  )
  const sample = recipients.slice(0, shownDevices).map((recipient, index) => {
    const { project_user_id, device_id, platform, user_id } = recipient
    const { variant, language } = choices[index]!
    const target = targets.get(device_id)
    const unreachable =
      refusalOf(recipient) ?? (typeof target === 'object' ? null : (target ?? 'NO_DEVICE').toLowerCase())
    const { content, fault, missing } = readingOf(rendered[index]!)
    const shown = { project_user_id, device_id, platform, variant, language, content, missing }
    if (!content) return { ...shown, reason: fault, payload_bytes: null }
    const gateway = typeof target === 'object' ? target.gateway : usualGateway(platform)
    const { bytes, most } = payloadSize(gateway, content)
    const kept = heldOut?.(user_id) ? 'holdout' : null
    const lacking = missing.length > 0 && definition.on_missing === 'skip' ? 'missing_value' : null
    const reason = unreachable ?? kept ?? lacking ?? (bytes > most ? 'payload_too_large' : null)
    return { ...shown, reason, payload_bytes: bytes }
  })
  return {
    sample,
    texts: await textsSideBySide(ready, trigger, recipients[0] ?? unknownReader),
    missing_values: missingIn(rendered)
  }
}

/** The reader of a preview without an audience: a user without properties. */
const unknownReader: Reader = {
  device_id: '',
  user_id: '',
  project_user_id: null,
  properties: {},
  platform: 'IOS',
  facts: {},
  own: undefined
}

function readingOf(outcome: Rendered) {
  if (outcome === 'late')
    return { content: null, fault: 'template_failed: the time was too short to render it', missing: [] }
  if (outcome instanceof TemplateFailed)
    return { content: null, fault: `template_failed: ${outcome.message}`, missing: [] }
  if (outcome instanceof ValuesMissing) return { content: outcome.made, fault: null, missing: [...outcome.names] }
  return { content: outcome, fault: null, missing: [] }
}

/** Counts the devices for which a name had no value. */
function missingIn(rendered: readonly Rendered[]): Preview['missing_values'] {
  const names: Record<string, number> = {}
  let sampled = 0
  for (const one of rendered) {
    const { content, missing } = readingOf(one)
    if (content) sampled += 1
    for (const name of missing) names[name] = (names[name] ?? 0) + 1
  }
  return { sampled, names }
}

/** Every step, variant and language, as one reader would see it. Empty if the campaign has a single text. */
async function textsSideBySide(ready: Ready, trigger: Trigger, reader: Reader): Promise<Preview['texts']> {
  const { definition } = ready
  const all = everyMessage(definition).flatMap(({ step, variant, message }) =>
    [null, ...Object.keys(message.translations ?? {})].map((tag) => ({
      step: step ?? null,
      variant: variant ?? null,
      language: tag ?? message.language ?? null,
      tag
    }))
  )
  if (definition.live_activity || all.length < 2) return []
  const shown: Preview['texts'] = []
  const until = Date.now() + renderMs
  for (const [step, own] of Map.groupBy(all.slice(0, mostTexts), (one) => one.step)) {
    const { rendering, nameOf } = ready.texts(step)
    const names = own.map(({ variant, tag }) => nameOf(variant, tag))
    const rendered = await rendering.for(trigger)(
      own.map(() => reader),
      until,
      names
    )
    for (const [index, { variant, language }] of own.entries()) {
      const { content, fault, missing } = readingOf(rendered[index]!)
      shown.push({ step, variant, language, content, reason: fault, missing })
    }
  }
  return shown
}

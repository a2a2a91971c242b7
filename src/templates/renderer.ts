import { newId, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Source, templatesOf } from './content.ts'
import type { Lane } from './render-lane.ts'
import { RenderTurns } from './render-turns.ts'
import { type Addressee, type Made, type Recipient, renderingOf, type Triggered } from './rendering.ts'
import { isTemplate, TemplateFailed } from './template.ts'

/** Recipients and characters of one request to the process that renders. */
const slice = { recipients: 50, characters: 262_144 }

/** The message, the reason why it cannot be rendered, or `late`: the time was too short to try. */
export type Rendered = Made | TemplateFailed | 'late'
/** Renders the content for each recipient, in their order. */
export type Render = (recipients: readonly Recipient[], untilMs: number) => Promise<Rendered[]>

/** Renders one version of a campaign. */
export interface Rendering {
  /** `key` names the trigger, so that several calls share its cached properties. */
  for(trigger: Triggered, key?: string): Render
}

export type Renderer = ReturnType<typeof createRenderer>

/** Renders campaigns in separate processes, so that a slow template delays only its own project. */
export function createRenderer(metrics?: Metrics, open?: () => Lane) {
  const turns = new RenderTurns(open)
  // Triggers whose shared templates timed out. Their other batches do not try again.
  const hopeless = new Map<string, TemplateFailed>()
  metrics?.gauge('tidings_rendering', 'Processes that render templates, and renderings they were stopped in.', () =>
    turns.stats()
  )

  function of(projectId: ProjectId, definition: Source, version: string = newId()): Rendering {
    const sources = [...templatesOf(definition)].flatMap(([, source = '']) => (isTemplate(source) ? source : []))
    // Plain text needs no process.
    if (sources.length === 0) return here(definition)
    const campaign = { key: `campaign ${version}`, json: () => JSON.stringify(definition) }
    // A template can write a name with escapes.
    const mentions = (root: string) => sources.some((source) => source.includes(root) || source.includes('\\'))
    const [needsUser, needsTrigger] = [mentions('user'), mentions('trigger')]
    const written = ({ device_id, project_user_id, properties, platform, facts, own }: Recipient) =>
      JSON.stringify({
        device_id,
        project_user_id,
        properties: needsUser ? properties : {},
        platform,
        facts,
        ...(own && needsTrigger && { own })
      } satisfies Addressee)
    return {
      for: ({ properties }, id = newId()) => {
        const key = needsTrigger ? `trigger ${id}` : 'no trigger'
        const trigger = { key, json: () => JSON.stringify(needsTrigger ? properties : {}) }
        return (recipients, untilMs) =>
          renderAll(turns, hopeless, { projectId, campaign, trigger, untilMs }, recipients, written)
      }
    }
  }

  return { of, close: () => turns.close(), stats: () => turns.stats() }
}

function here(definition: Source): Rendering {
  const rendering = renderingOf(definition)
  return {
    for: (trigger) => {
      const { make } = rendering.for(trigger)
      return async (recipients) =>
        recipients.map((recipient) => {
          try {
            return make(recipient)
          } catch (error) {
            if (error instanceof TemplateFailed) return error
            throw error
          }
        })
    }
  }
}

type Subject = Omit<Parameters<RenderTurns['ask']>[0], 'recipients' | 'alone'>

async function renderAll(
  turns: RenderTurns,
  hopeless: Map<string, TemplateFailed>,
  subject: Subject,
  recipients: readonly Recipient[],
  written: (recipient: Recipient) => string
): Promise<Rendered[]> {
  const rendered: Rendered[] = []
  const key = `${subject.campaign.key} ${subject.trigger.key}`
  let most = slice.recipients
  let asked = false
  // Where recipients have properties of their own, one that fails says nothing about the others.
  const differ = recipients.some(({ own }) => own)
  while (rendered.length < recipients.length) {
    const poison = differ ? undefined : hopeless.get(key)
    if (poison) return [...rendered, ...recipients.slice(rendered.length).map(() => poison)]
    const texts = sliceOf(recipients, rendered.length, most, written)
    const outcome = await turns.ask({ ...subject, recipients: `[${texts.join()}]`, alone: texts.length === 1 })
    if (outcome === 'late') return [...rendered, ...recipients.slice(rendered.length).map(() => 'late' as const)]
    if (outcome === 'split') most = 1
    else if (outcome instanceof TemplateFailed) {
      rendered.push(outcome)
      if (asked || differ) continue
      asked = true
      // Checks once whether the shared templates fail: then every recipient would take as long.
      const shared = await turns.ask({ ...subject, recipients: null, alone: true })
      if (shared instanceof TemplateFailed) {
        if (hopeless.size >= 1_000) hopeless.delete(hopeless.keys().next().value!)
        hopeless.set(key, shared)
      }
    } else rendered.push(...outcome.map((one) => ('made' in one ? one.made : new TemplateFailed(one.failed))))
  }
  return rendered
}

function sliceOf(
  recipients: readonly Recipient[],
  from: number,
  most: number,
  written: (recipient: Recipient) => string
): string[] {
  const texts: string[] = []
  let characters = 0
  for (let index = from; index < recipients.length && texts.length < most; index++) {
    const text = written(recipients[index]!)
    characters += text.length
    if (texts.length > 0 && characters > slice.characters) break
    texts.push(text)
  }
  return texts
}

import { newId, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Source, sourcesOf } from './content.ts'
import type { Made } from './making.ts'
import { fillerOf } from './plain.ts'
import type { RenderOutcome } from './render-child.ts'
import type { Lane } from './render-lane.ts'
import { RenderTurns } from './render-turns.ts'
import type { Addressee, Recipient, Triggered } from './rendering.ts'
import { isTemplate, TemplateFailed } from './template.ts'

/** Recipients and characters of one request to the process that renders. */
const slice = { recipients: 50, characters: 262_144 }

/** A message in which values are missing, for a campaign that wants to know. */
export class ValuesMissing {
  readonly made: Made
  readonly names: readonly string[]

  constructor(made: Made, names: readonly string[]) {
    this.made = made
    this.names = names
  }
}

/** The message, the reason why it cannot be rendered, or `late`: the time was too short to try. */
export type Rendered = Made | ValuesMissing | TemplateFailed | 'late'
/** Renders the content for each recipient, in their order. `texts`: the text of each, if the campaign has several. */
export type Render = (
  recipients: readonly Recipient[],
  untilMs: number,
  texts?: readonly (string | undefined)[]
) => Promise<Rendered[]>

/** Renders one version of a campaign. */
export interface Rendering {
  /** `key` names the trigger, so that several calls share its cached properties. */
  for(trigger: Triggered, key?: string): Render
}

export type Renderer = ReturnType<typeof createRenderer>

/** Renders campaigns in separate processes, so that a slow template delays only its own project. */
export function createRenderer(metrics?: Metrics, open?: () => Lane, oneMs?: number) {
  const turns = new RenderTurns(open, oneMs)
  // Triggers whose shared templates timed out. Their other batches do not try again.
  const hopeless = new Map<string, TemplateFailed>()
  metrics?.gauge('tidings_rendering', 'Processes that render templates, and renderings they were stopped in.', () =>
    turns.stats()
  )

  function of(projectId: ProjectId, definition: Source, version: string = newId()): Rendering {
    const sources = [...sourcesOf(definition)].filter(isTemplate)
    const fillIn = fillerOf(definition)
    const campaign = { key: `campaign ${version}`, json: () => JSON.stringify(definition) }
    // A template can write a name with escapes.
    const mentions = (root: string) => sources.some((source) => source.includes(root) || source.includes('\\'))
    const [needsUser, needsTrigger] = [mentions('user'), mentions('trigger') || mentions('event')]
    const written: Written = ({ device_id, project_user_id, properties, platform, facts, own }, text) =>
      JSON.stringify({
        device_id,
        project_user_id,
        properties: needsUser ? properties : {},
        platform,
        facts,
        text,
        ...(own && needsTrigger && { own })
      } satisfies Addressee)
    return {
      for: ({ properties }, id = newId()) => {
        const key = needsTrigger ? `trigger ${id}` : 'no trigger'
        const trigger = { key, json: () => JSON.stringify(needsTrigger ? properties : {}) }
        return async (recipients, untilMs, texts = []) => {
          const made: (Rendered | undefined)[] = await fillIn({ properties }, recipients, untilMs, texts)
          const left = [...recipients.keys()].filter((index) => made[index] === undefined)
          if (left.length === 0) return made as Rendered[]
          const readers = {
            recipients: left.map((index) => recipients[index]!),
            texts: left.map((index) => texts[index]),
            written
          }
          const rendered = await renderAll(turns, hopeless, { projectId, campaign, trigger, untilMs }, readers)
          for (const [place, index] of left.entries()) made[index] = rendered[place]!
          return made as Rendered[]
        }
      }
    }
  }

  return { of, close: () => turns.close(), stats: () => turns.stats() }
}

type Subject = Omit<Parameters<RenderTurns['ask']>[0], 'recipients' | 'alone' | 'text'>
type Written = (recipient: Recipient, text: string | undefined) => string

interface Readers {
  recipients: readonly Recipient[]
  texts: readonly (string | undefined)[]
  written: Written
}

async function renderAll(
  turns: RenderTurns,
  hopeless: Map<string, TemplateFailed>,
  subject: Subject,
  readers: Readers
): Promise<Rendered[]> {
  const { recipients, texts } = readers
  const rendered: Rendered[] = []
  const keyOf = (text: string | undefined) => `${subject.campaign.key} ${subject.trigger.key} ${text}`
  let most = slice.recipients
  const asked = new Set<string | undefined>()
  // Where recipients have properties of their own, one that fails says nothing about the others.
  const differ = recipients.some(({ own }) => own)
  const poisonOf = (index: number) => (differ || hopeless.size === 0 ? undefined : hopeless.get(keyOf(texts[index])))
  while (rendered.length < recipients.length) {
    const poison = poisonOf(rendered.length)
    if (poison) {
      rendered.push(poison)
      continue
    }
    const text = texts[rendered.length]
    const some = sliceOf(readers, rendered.length, most, (index) => poisonOf(index) !== undefined)
    const outcome = await turns.ask({ ...subject, recipients: `[${some.join()}]`, alone: some.length === 1 })
    if (outcome === 'late') return [...rendered, ...recipients.slice(rendered.length).map(() => 'late' as const)]
    if (outcome === 'split') most = 1
    else if (outcome instanceof TemplateFailed) {
      rendered.push(outcome)
      if (asked.has(text) || differ) continue
      asked.add(text)
      // Checks once whether the shared templates fail: then every recipient would take as long.
      const shared = await turns.ask({ ...subject, recipients: null, text, alone: true })
      if (shared instanceof TemplateFailed) {
        if (hopeless.size >= 1_000) hopeless.delete(hopeless.keys().next().value!)
        hopeless.set(keyOf(text), shared)
      }
    } else rendered.push(...outcome.map(renderedOf))
  }
  return rendered
}

function renderedOf(outcome: RenderOutcome): Rendered {
  if ('failed' in outcome) return new TemplateFailed(outcome.failed)
  return outcome.missing ? new ValuesMissing(outcome.made, outcome.missing) : outcome.made
}

/** The next recipients, up to one whose text cannot be rendered. */
function sliceOf(
  { recipients, texts, written }: Readers,
  from: number,
  most: number,
  isHopeless: (index: number) => boolean
): string[] {
  const some: string[] = []
  let characters = 0
  for (let index = from; index < recipients.length && some.length < most; index++) {
    if (isHopeless(index)) break
    const text = written(recipients[index]!, texts[index])
    characters += text.length
    if (some.length > 0 && characters > slice.characters) break
    some.push(text)
  }
  return some
}

import { Refusal } from '../platform/errors.ts'
import { contentOf, type Source } from './content.ts'
import { type Made, type Make, makeOf } from './making.ts'
import { noteMissing, notingMissing } from './missing.ts'
import {
  compileTemplate,
  deviceScope,
  type Template,
  TemplateFailed,
  type TemplateScope,
  userScope
} from './template.ts'

/** A recipient with the data that templates and eligibility checks use. */
export interface Recipient {
  device_id: string
  user_id: string
  project_user_id: string | null
  properties: Record<string, unknown>
  platform: 'IOS' | 'ANDROID' | 'WEB'
  facts: Readonly<Record<string, string | null>>
  /** The properties of its target, merged over those of the trigger. */
  own?: Record<string, unknown> | undefined
}

/** The part of a recipient that templates can refer to, and the name of its text if the campaign has several. */
export type Addressee = Omit<Recipient, 'user_id'> & { text?: string | undefined }

export interface Triggered {
  properties: Record<string, unknown>
}

export interface Making {
  /** Renders the content for one recipient. Throws `TemplateFailed`. */
  make(recipient: Addressee): Made
  /** Renders the templates of a text that are the same for every recipient. */
  shared(text?: string): void
}

export interface Rendering {
  for(trigger: Triggered): Making
}

/** Renders a template without recipient data once for all; undefined for other templates. */
type Once = (template: Template) => string | undefined

interface Values {
  scope: TemplateScope
  once: Once
}

/** A compiled text, with the templates in it that are the same for every recipient. */
interface Text {
  make: Make<Values>
  shared: ReadonlySet<Template>
}

function textOf(content: Pick<Source, 'message' | 'live_activity'>): Text {
  const templates: Template[] = []
  const make = makeOf<Values>(content, (source, path) => {
    const template = compiled(source, path)
    templates.push(template)
    return ({ scope, once }) => once(template) ?? template.render(scope)
  })
  const isShared = ({ dependsOn }: Template) => !dependsOn.has('user') && !dependsOn.has('device')
  return { make, shared: new Set(templates.filter(isShared)) }
}

/** A template that an older version of the service saved, and that this one refuses, fails its messages. */
function compiled(source: string, path: string): Template {
  try {
    return compileTemplate(source, path)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { message } = error
    const render = () => {
      throw new TemplateFailed(message)
    }
    return { dependsOn: new Set(), names: [], doubts: () => [], render }
  }
}

const ofTrigger = ({ dependsOn }: Template) => dependsOn.has('trigger') || dependsOn.has('event')

export function renderingOf(campaign: Source): Rendering {
  const texts = new Map<string | undefined, Text>()
  // Compiled when they are needed: few recipients need all languages.
  const named = (text: string | undefined): Text => {
    const known = texts.get(text) ?? textOf(contentOf(campaign, text))
    texts.set(text, known)
    return known
  }
  const { name, campaign_id: id, messages } = campaign
  // Checked by the caller: a template that cannot be compiled is noticed here.
  if (!messages) named(undefined)
  return {
    for({ properties: trigger }) {
      const rendered = new Map<Template, Outcome>()
      // With properties of its own, a recipient shares only the templates without `trigger`.
      const onceOf =
        (shared: Text['shared'], own = false): Once =>
        (template) => {
          if (!shared.has(template) || (own && ofTrigger(template))) return undefined
          const known =
            rendered.get(template) ?? outcomeOf(template, { trigger, event: trigger, campaign: { id, name } })
          rendered.set(template, known)
          for (const one of known.missing) noteMissing(one)
          if (known.text instanceof TemplateFailed) throw known.text
          return known.text
        }
      return {
        make: (recipient) => {
          const { make, shared } = named(recipient.text)
          return make({
            scope: scopeOf(recipient, trigger, { id, name }),
            once: onceOf(shared, recipient.own !== undefined)
          })
        },
        shared(text) {
          const { shared } = named(text)
          for (const template of shared) onceOf(shared)(template)
        }
      }
    }
  }
}

/** The outcome of a template that is the same for every recipient, with the names that had no value. */
interface Outcome {
  text: string | TemplateFailed
  missing: string[]
}

/** A shared template that fails for one recipient fails for all. Its outcome is kept, because failing may cost the whole budget. */
function outcomeOf(template: Template, scope: TemplateScope): Outcome {
  const [text, missing] = notingMissing(() => {
    try {
      return template.render(scope)
    } catch (error) {
      if (error instanceof TemplateFailed) return error
      throw error
    }
  })
  return { text, missing }
}

function scopeOf(
  { device_id, project_user_id, properties, platform, facts, own }: Addressee,
  shared: Record<string, unknown>,
  campaign: Record<string, unknown>
): TemplateScope {
  const trigger = own ? { ...shared, ...own } : shared
  return {
    user: userScope(project_user_id, properties),
    device: deviceScope(device_id, platform, facts),
    trigger,
    event: trigger,
    campaign
  }
}

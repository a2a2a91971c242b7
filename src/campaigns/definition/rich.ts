import type { Detail } from '../../platform/errors.ts'
import { isTemplate } from '../../templates/templates.ts'
import type { Message } from './schema.ts'

/** Fields that a silent push must not have: gateways show a notification or wake the app, not both. */
const shown = [
  ...(['title', 'body', 'image_url', 'landing_url', 'sound', 'badge', 'channel_id', 'thread_id'] as const),
  ...(['category', 'actions', 'interruption_level', 'relevance_score', 'translations'] as const)
]

/** Rules over the fields of a push that are not its text. */
export function richProblems(message: Message, path: string): Detail[] {
  const problems: Detail[] = []
  const add = (field: string, text: string) => void problems.push({ path: `${path}.${field}`, message: text })
  const { silent, badge, actions = [] } = message
  if (silent)
    for (const field of shown)
      if (message[field] !== undefined) add(field, 'must not be given: a silent push shows nothing')
  if (typeof badge === 'string' && !isTemplate(badge))
    add('badge', 'must be a whole number, or a template of one: gateways set the number and cannot add to it')
  for (const [index, { id, landing_url }] of actions.entries()) {
    if (actions.findIndex((one) => one.id === id) < index) add(`actions[${index}].id`, 'must not be there twice')
    if (landing_url && !isTemplate(landing_url) && !URL.canParse(landing_url))
      add(`actions[${index}].landing_url`, 'must be an absolute address, such as https://… or app://…')
  }
  return problems
}

/** What a push has and iPhones do not show as its author may expect. */
export function richWarnings(message: Message, path: string): string[] {
  if (!message.actions || message.category) return []
  return [`${path}.actions: iPhones show buttons only with a category that the app has registered; give category too.`]
}

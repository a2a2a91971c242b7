import type { Detail } from '../../platform/errors.ts'
import { readTemplate } from '../../templates/templates.ts'

/** A text in the words of Tidings, and what could not be said in them. */
export interface TranslatedText {
  text: string
  problems: string[]
}

const keywords = new Set(
  'if elsif else endif unless endunless case when endcase for in endfor break continue assign capture endcapture echo raw endraw comment endcomment cycle increment decrement limit offset reversed and or contains not true false nil null blank empty forloop'.split(
    ' '
  )
)

/** A property by name; names that are no identifiers stand in brackets. */
const member = (root: string, name: string) =>
  /^[A-Za-z_][\w-]*$/.test(name) ? `${root}.${name}` : `${root}["${name.replaceAll('"', '')}"]`

const fixedNames: Record<string, string> = {
  user_id: 'user.id',
  time_zone: 'user.timezone',
  most_recent_locale: 'device.locale',
  most_recently_used_device_model: ''
}

/** Where each kind of value of Braze lives here; an empty text: nowhere. */
const brazeRoots: Record<string, string> = {
  '': 'user',
  custom_attribute: 'user',
  event_properties: 'event',
  api_trigger_properties: 'trigger',
  canvas_entry_properties: 'trigger',
  context: 'trigger',
  campaign: 'campaign',
  targeted_device: 'device'
}

const hopeless: [pattern: RegExp, reason: string][] = [
  [
    /\{%-?\s*connected_content\b[\s\S]*?%\}/g,
    'connected_content: Tidings calls no address while it renders. Fetch the value before, and send it as a property of the trigger'
  ],
  [
    /\{%-?\s*abort_message\b[\s\S]*?%\}/g,
    'abort_message: say it as a condition of the segment, or use on_missing: skip if a value is missing'
  ],
  [
    /\{%-?\s*(?:catalog_items|catalog_selection_items)\b[\s\S]*?%\}/g,
    'catalogs: send the item as a property of the trigger'
  ],
  [
    /\{%-?\s*(?:include|render|layout|message_extras|multi_language|promotion)\b[\s\S]*?%\}/g,
    'this tag is not available'
  ],
  [/\{\{-?\s*content_blocks\.(?:\$\{[^}]*\})?[\s\S]*?\}\}/g, 'content blocks: paste the text of the block here']
]

/** Removes what cannot be translated, and names it. */
function withoutHopeless(text: string, problems: string[]): string {
  let rest = text
  for (const [pattern, reason] of hopeless)
    rest = rest.replace(pattern, (found) => {
      problems.push(`${found.replaceAll(/\s+/g, ' ').slice(0, 60)}: ${reason}`)
      return ''
    })
  return rest
}

/** `{{ ${first_name} | default: 'you' }}` is `{{ user.first_name | default: 'you' }}` here. */
export function brazeText(text: string): TranslatedText {
  const problems: string[] = []
  const rest = withoutHopeless(text, problems).replace(
    /(?:(\w+)\.)?\$\{([^}]*)\}/g,
    (found, root = '', name: string) => {
      const known = root === '' ? fixedNames[name.trim()] : undefined
      if (known) return known
      const here = brazeRoots[root]
      if (here === undefined || known === '') {
        problems.push(`${found}: there is no such value here`)
        return 'trigger.unknown'
      }
      return member(here, name.trim())
    }
  )
  return checked(withZone(rest), problems)
}

/** Names of OneSignal with a meaning of their own. Every other name is a tag. */
const oneSignalNames: [pattern: RegExp, here: string][] = [
  [/^message\.custom_data\./, 'trigger.'],
  [/^event\.data\./, 'event.'],
  [/^subscription\.external_id$|^user\.external_id$|^external_id$/, 'user.id'],
  [/^user\.language$|^subscription\.language$/, 'device.language'],
  [/^subscription\.(?:country|user\.country)$|^user\.country$/, 'device.locale'],
  [/^subscription\.app_version$/, 'device.app_version'],
  [/^(?:user\.)?tags\./, 'user.']
]

/** `{{ first_name | default: "you" }}`: names in outputs and tags are those of tags. */
export function oneSignalText(text: string): TranslatedText {
  const problems: string[] = []
  const assigned = new Set([...text.matchAll(/\{%-?\s*(?:assign|capture|for)\s+(\w+)/g)].map(([, name]) => name!))
  const rest = withoutHopeless(text, problems).replace(/\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g, (block) =>
    block.replace(/"[^"]*"|'[^']*'|\|\s*\w+|(?<![\w.])[A-Za-z_][\w.-]*(?:\s*:)?/g, (word) => {
      if (/^["'|]/.test(word) || word.endsWith(':')) return word
      const [root = ''] = word.split('.')
      if (keywords.has(root) || assigned.has(root)) return word
      for (const [pattern, here] of oneSignalNames) if (pattern.test(word)) return word.replace(pattern, here)
      if (['app', 'template', 'org', 'journey', 'subscription', 'message', 'notification'].includes(root)) {
        problems.push(`${word}: there is no such value here`)
        return 'trigger.unknown'
      }
      return root === 'user' ? word : `user.${word}`
    })
  )
  return checked(withZone(rest), problems)
}

/** The zone stands in the filter `date` here, not in one of its own. */
const withZone = (text: string) =>
  text.replace(/\|\s*time_zone:\s*("[^"]*"|'[^']*'|[\w.]+)\s*\|\s*date:\s*("[^"]*"|'[^']*')/g, '| date: $2, $1')

function checked(text: string, problems: string[]): TranslatedText {
  const found: Detail[] = []
  const template = readTemplate(text, 'text', found)
  problems.push(...found.map(({ message }) => message))
  problems.push(...(template?.doubts() ?? []))
  return { text, problems }
}

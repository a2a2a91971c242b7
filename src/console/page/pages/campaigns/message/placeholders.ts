import type { Campaign } from '../../../../../wire.ts'

type Message = NonNullable<Campaign['message']>

const texts = ['title', 'body', 'image_url', 'landing_url'] as const
const pattern = /\{[{%][^}%]*?\b((?:user|trigger|event|device|campaign)\.[\w.-]+)/g

const placeholdersIn = (message: Partial<Record<(typeof texts)[number], string>>) =>
  new Set(texts.flatMap((name) => [...(message[name] ?? '').matchAll(pattern)].map((match) => match[1]!)))

/** Placeholders of the default language that a translation lacks. A text that it leaves out, or leaves empty, is that of the default. */
export function missingPlaceholders(message: Message, tag: string): string[] {
  const translation = message.translations?.[tag]
  const shown = placeholdersIn(Object.fromEntries(texts.map((name) => [name, translation?.[name] || message[name]])))
  return [...placeholdersIn(message)].filter((name) => !shown.has(name))
}

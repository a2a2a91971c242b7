import { titleIn } from '../../templates/templates.ts'
import { languageWarnings } from './language-warnings.ts'
import { everyMessage } from './messages.ts'
import type { CampaignFields, Message } from './schema.ts'

const fields = ['title', 'body', 'image_url', 'landing_url'] as const

/** The texts of a message, each beside its translation. */
const pairsIn = (message: Message, translation: NonNullable<Message['translations']>[string]) => [
  ...fields.map((field) => [field, message[field], translation[field]] as const),
  ...(message.actions ?? []).map(({ id, title }) => [`actions.${id}`, title, titleIn(translation.actions, id)] as const)
]

/**
 * Warnings about translations: an unknown language, and a placeholder that one language has and another lacks.
 * `namesIn` returns the names in a template, such as user.name; undefined: it was not read, or is refused.
 */
export function* translationWarnings(
  campaign: CampaignFields,
  namesIn: (source: string) => ReadonlySet<string> | undefined
): Generator<string> {
  for (const { path, message } of everyMessage(campaign)) {
    const { language, translations = {} } = message
    const tags = Object.keys(translations)
    yield* languageWarnings(message, path)
    if (tags.length > 0 && language === undefined)
      yield `${path} has translations, but no language: a device in its language may get a translation.`
    for (const tag of tags)
      for (const [field, own, other] of pairsIn(message, translations[tag]!)) {
        // A text that is absent or empty is the one of the default language, with all its placeholders.
        if (!own || !other) continue
        const [had, has] = [namesIn(own), namesIn(other)]
        if (!had || !has) continue
        for (const name of had)
          if (!has.has(name))
            yield `${path}.translations.${tag}.${field} lacks {{ ${name} }}, which the default language has.`
        for (const name of has)
          if (!had.has(name)) yield `${path}.${field} lacks {{ ${name} }}, which the translation ${tag} has.`
      }
  }
}

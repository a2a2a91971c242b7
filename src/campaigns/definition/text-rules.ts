import type { Detail } from '../../platform/errors.ts'
import { canonicalTag } from '../texts/language.ts'
import { everyMessage } from './messages.ts'
import type { CampaignFields, Message } from './schema.ts'

type Variants = NonNullable<CampaignFields['variants']>

/** Characters of all texts of a step: they travel to the process that renders together. */
const mostCharacters = 524_288

/** Rules of variants, languages and winners. */
export function textProblems(campaign: CampaignFields): Detail[] {
  const { variants, steps, winner, conversion } = campaign
  const problems: Detail[] = []
  const add = (path: string, message: string) => void problems.push({ path, message })
  const experiments = [
    ['', { variants }] as const,
    ...(steps ?? []).map((step, index) => [`steps[${index}].`, step] as const)
  ].flatMap(([path, given]) => (given.variants ? [[`${path}variants`, given.variants] as const] : []))
  for (const [path, given] of experiments) problems.push(...variantProblems(given, path))
  if (winner && experiments.length === 0) add('winner', 'must not be given without variants')
  if (winner?.by === 'conversion' && !conversion) add('winner.by', 'must not be conversion without a conversion')
  const room = new Map<string, number>()
  for (const { path, step = '', message } of everyMessage(campaign)) {
    problems.push(...languageProblems(message, path))
    const used = (room.get(step) ?? 0) + JSON.stringify(message).length
    room.set(step, used)
    if (used > mostCharacters && used - JSON.stringify(message).length <= mostCharacters)
      add(
        path,
        `must leave the texts of a step at most ${mostCharacters} characters, all variants and languages together`
      )
  }
  return problems
}

function variantProblems(variants: Variants, path: string): Detail[] {
  const problems: Detail[] = []
  const ids = new Set<string>()
  for (const [index, { id }] of variants.entries()) {
    if (ids.has(id))
      problems.push({ path: `${path}[${index}].id`, message: `must not be ${id}: another variant has it` })
    if (id === 'holdout')
      problems.push({ path: `${path}[${index}].id`, message: 'must not be holdout: results count the holdout so' })
    ids.add(id)
  }
  if (variants.every(({ weight }) => weight === 0))
    problems.push({ path, message: 'must have at least one variant with a weight above 0' })
  return problems
}

function languageProblems({ language, translations, actions = [] }: Message, path: string): Detail[] {
  const problems: Detail[] = []
  const known = new Map<string, string>()
  if (language !== undefined) {
    const tag = canonicalTag(language)
    if (tag === undefined) problems.push({ path: `${path}.language`, message: tagRule })
    else known.set(tag, 'the default language')
  }
  for (const given of Object.keys(translations ?? {})) {
    const place = `${path}.translations.${given}`
    const tag = given.includes('_') ? undefined : canonicalTag(given)
    const other = tag === undefined ? undefined : known.get(tag)
    if (tag === undefined) problems.push({ path: place, message: tagRule })
    else if (other !== undefined) problems.push({ path: place, message: `must not be the language of ${other}` })
    else known.set(tag, `translations.${given}`)
    for (const id of Object.keys(translations![given]!.actions ?? {}))
      if (!actions.some((action) => action.id === id))
        problems.push({ path: `${place}.actions.${id}`, message: 'must be the id of an action of the message' })
  }
  return problems
}

const tagRule = 'must be a language tag such as en, pt-BR or zh-Hant'

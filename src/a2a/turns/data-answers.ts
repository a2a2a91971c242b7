import { isDeepStrictEqual } from 'node:util'
import type { Request } from '../model.ts'
import { askAbout, judge, settle, straysOf } from '../skills/check.ts'
import type { Skill } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import { conclude, draftOf, targetsOf } from '../text/draft.ts'
import { isShown } from '../text/proposal.ts'
import type { Reading } from '../text/reading.ts'
import type { Meaning } from './meaning.ts'
import { asking, questionOf } from './texts.ts'

type Fields = Record<string, unknown>

const whom = ['deviceId', 'projectUserId', 'userId', 'target']
const audience = ['targets', 'broadcast', 'audience', 'target']

/** The fields of data that answer the question about a text. */
function givenBy(skill: Skill | undefined, asked: string): readonly string[] {
  if (asked === 'target') return whom
  if (asked === 'audience') return audience
  return skill?.text?.needs.find((need) => need.asked === asked)?.fields ?? [asked]
}

/**
 * Data without a skill answers a question that a text raised. It fills a plain gap. It never confirms an action and never
 * resolves an ambiguity: then the same question is asked again.
 */
export function answerWithData(known: Request, sent: Request, skills: Skills): Meaning {
  const given = sent.fields
  const asked = known.pending as Reading & { kind: 'ask' | 'confirm' }
  const skill = asked.skill === undefined ? undefined : skills.get(asked.skill)
  const strays = skill ? straysOf(skill, sent) : []
  const again = (why: string): Meaning => ({ kind: 'ask', question: `${why} ${questionOf(asked)}`, request: known })
  if (asked.kind === 'confirm') return again('The data was not taken: this needs a yes or a no.')
  if (asked.missing.length === 0) return again('The data was not taken: what was said before is not clear.')
  if (skill && strays.length > 0) return again(`The data was not taken: ${askAbout(skill, strays)}`)
  const has = (name: string) => Object.hasOwn(given, name)
  if (!asked.missing.some((field) => givenBy(skill, field).some(has)))
    return again('The data was not taken: it does not hold what is asked for.')
  return completed(asked, given, skills) ?? again('Send the whole of it as data, with the field skill.')
}

/** A text that names the action for earlier data, which named no skill. */
export function withData(meaning: Meaning, known: Request | undefined, skills: Skills): Meaning {
  const asked = meaning.kind === 'ask' ? (meaning.request?.pending as Reading | undefined) : undefined
  if (!known || known.pending !== undefined || asked?.kind !== 'ask' || asked.missing.length === 0) return meaning
  const skill = asked.skill === undefined ? undefined : skills.get(asked.skill)
  const strays = skill ? straysOf(skill, known) : []
  if (skill && strays.length > 0)
    return { kind: 'ask', question: `${askAbout(skill, strays)} ${questionOf(asked)}`, request: known }
  return completed(asked, known.fields, skills) ?? meaning
}

/**
 * Combines the request of a text with the data beside it. Undefined if a sentence could not describe the whole request.
 */
function completed(asked: Reading & { kind: 'ask' }, given: Fields, skills: Skills): Meaning | undefined {
  const id = asked.skill
  const skill = id === undefined ? undefined : skills.get(id)
  if (id === undefined || !skill?.text) return undefined
  const settled = settle(skill, merged(asked.data, given))
  // Fields of a wrong type are refused, as in any data.
  if ('wrong' in settled) return { kind: 'request', skill: id, fields: merged(asked.data, given), understood: '' }
  const { fields } = settled
  if (judge(skill, { ...fields, skill: id }).kind === 'wrong')
    return { kind: 'request', skill: id, fields, understood: '' }
  const draft = draftOf(skill.text, fields)
  const targets = targetsOf(draft)
  if (!targets.every(isShown)) return undefined
  if (targets.length === 0) draft.candidate = asked.candidate
  draft.note = asked.note
  // If the data contradicts the text, or the text meant everyone, the caller must confirm the result.
  const doubtful =
    asked.data.broadcast === true ||
    Object.keys(asked.data).some((name) => !isDeepStrictEqual(fields[name], asked.data[name]))
  const reading = conclude(draft, doubtful)
  if (reading.kind === 'act') return { kind: 'request', skill: id, fields, understood: reading.understood }
  if (reading.kind === 'confirm') return isDeepStrictEqual(reading.data, shown(fields)) ? asking(reading) : undefined
  return reading.kind === 'ask' ? asking({ ...reading, data: fields }) : undefined
}

/** A recipient in data replaces the one that the text named. */
function merged(said: Fields, given: Fields): Fields {
  const before = { ...said }
  for (const names of [whom, audience])
    if (names.some((name) => Object.hasOwn(given, name))) for (const name of names) delete before[name]
  return { ...before, ...given }
}

/** Drops fields without a value. */
const shown = ({ broadcast, properties, ...fields }: Fields): Fields => ({
  ...fields,
  ...(broadcast === true && { broadcast }),
  ...(properties !== undefined && !isDeepStrictEqual(properties, {}) && { properties })
})

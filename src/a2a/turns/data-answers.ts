import { isDeepStrictEqual } from 'node:util'
import type { Request } from '../model.ts'
import { askAbout, judge, settle, straysOf } from '../skills/check.ts'
import type { Skills } from '../skills/registry.ts'
import { conclude, draftOf } from '../text/draft.ts'
import { isDescribable, isShown } from '../text/proposal.ts'
import { asking, questionOf, type TextReading } from '../text/texts.ts'
import type { Reading } from './reading.ts'

type Fields = Record<string, unknown>

const whom = ['deviceId', 'projectUserId', 'userId', 'target']
const audience = ['targets', 'broadcast', 'audience', 'target']
/** The fields that give what a text was asked for, where they have other names. */
const givenBy = new Map([
  ['target', whom],
  ['audience', audience],
  ['body', ['title', 'body']]
])

/**
 * Data without a skill, in answer to a question that a text raised. It fills a plain gap. It is no yes, and makes
 * nothing clear that the text left unclear: then the same question is asked again.
 */
export function answerWithData(known: Request, sent: Request, skills: Skills): Reading {
  const given = sent.fields
  const asked = known.pending as TextReading & { kind: 'ask' | 'confirm' }
  const skill = asked.skill === undefined ? undefined : skills.get(asked.skill)
  const strays = skill ? straysOf(skill, sent) : []
  const again = (why: string): Reading => ({ kind: 'ask', question: `${why} ${questionOf(asked)}`, request: known })
  if (asked.kind === 'confirm') return again('The data was not taken: this needs a yes or a no.')
  if (asked.missing.length === 0) return again('The data was not taken: what was said before is not clear.')
  if (skill && strays.length > 0) return again(`The data was not taken: ${askAbout(skill, strays)}`)
  const has = (name: string) => Object.hasOwn(given, name)
  if (!asked.missing.some((field) => (givenBy.get(field) ?? [field]).some(has)))
    return again('The data was not taken: it does not hold what is asked for.')
  return completed(asked, given, skills) ?? again('Send the whole of it as data, with the field skill.')
}

/** A text that says what is to be done with data which came before it, and did not say so. */
export function withData(reading: Reading, known: Request | undefined, skills: Skills): Reading {
  const asked = reading.kind === 'ask' ? (reading.request?.pending as TextReading | undefined) : undefined
  if (!known || known.pending !== undefined || asked?.kind !== 'ask' || asked.missing.length === 0) return reading
  const skill = asked.skill === undefined ? undefined : skills.get(asked.skill)
  const strays = skill ? straysOf(skill, known) : []
  if (skill && strays.length > 0)
    return { kind: 'ask', question: `${askAbout(skill, strays)} ${questionOf(asked)}`, request: known }
  return completed(asked, known.fields, skills) ?? reading
}

/** What a text and the data beside it amount to. Undefined where not all of it could be put into words. */
function completed(asked: TextReading & { kind: 'ask' }, given: Fields, skills: Skills): Reading | undefined {
  const id = asked.skill
  const skill = id === undefined ? undefined : skills.get(id)
  if (id === undefined || !skill || !isDescribable(id)) return undefined
  const settled = settle(skill, merged(asked.data, given))
  // What has a wrong type is refused as it is in any data.
  if ('wrong' in settled) return { kind: 'request', skill: id, fields: merged(asked.data, given), understood: '' }
  const { fields } = settled
  if (judge(skill, { ...fields, skill: id }).kind === 'wrong')
    return { kind: 'request', skill: id, fields, understood: '' }
  const draft = draftOf(id, fields)
  if (!draft.targets.every(isShown)) return undefined
  if (draft.targets.length === 0) draft.candidate = asked.candidate
  draft.note = asked.note
  // Where the data takes back what the text said, or the text meant everyone, somebody has to see what came of it.
  const doubtful =
    asked.data.broadcast === true ||
    Object.keys(asked.data).some((name) => !isDeepStrictEqual(fields[name], asked.data[name]))
  const reading = conclude(draft, doubtful)
  if (reading.kind === 'act') return { kind: 'request', skill: id, fields, understood: reading.understood }
  if (reading.kind === 'confirm') return isDeepStrictEqual(reading.data, shown(fields)) ? asking(reading) : undefined
  return reading.kind === 'ask' ? asking({ ...reading, data: fields }) : undefined
}

/** Whoever is named in data is meant instead of whoever the text named. */
function merged(said: Fields, given: Fields): Fields {
  const before = { ...said }
  for (const names of [whom, audience])
    if (names.some((name) => Object.hasOwn(given, name))) for (const name of names) delete before[name]
  return { ...before, ...given }
}

/** Without what says nothing. */
const shown = ({ broadcast, properties, ...fields }: Fields): Fields => ({
  ...fields,
  ...(broadcast === true && { broadcast }),
  ...(properties !== undefined && !isDeepStrictEqual(properties, {}) && { properties })
})

import { AgentError } from '../errors.ts'
import type { Message, Request } from '../model.ts'
import { askAbout, askFor, judge, settle, straysOf } from '../skills/check.ts'
import type { Skills } from '../skills/skills.ts'
import { declines, readConfirmation, refused, saysNo } from './confirming.ts'
import { answerWithData, withData } from './data-answers.ts'
import type { Meaning, ReadText } from './meaning.ts'
import { mergedRequest, noSkill, refuseLarge } from './merging.ts'
import { readRetry } from './retrying.ts'
import type { Turn } from './turn.ts'

export type { Turn } from './turn.ts'

interface TurnContext {
  skills: Skills
  readText: ReadText
  /** The state in which the task waits. */
  state?: 'input-required' | 'auth-required'
}

export async function takeTurn(
  message: Message,
  known: Request | undefined,
  { skills, readText, state = 'input-required' }: TurnContext
): Promise<Turn> {
  const data: unknown[] = []
  for (const part of message.parts) {
    if ('raw' in part || 'url' in part)
      throw new AgentError('content_type_not_supported', 'Files are not taken: send text, or data with a skill.')
    if ('data' in part) data.push(part.data)
  }
  if (data.length === 0) {
    const text = message.parts.map((part) => ('text' in part ? part.text : '')).join('\n')
    if (isWhole(known, skills)) {
      const meaning = await readRetry(text, known, { skills, readText })
      if (meaning.kind === 'goes on') return { kind: 'run', request: known, skill: skills.get(known.skill)! }
      if (meaning.kind === 'stays') return { kind: 'stop', request: known, state, reason: meaning.question }
      return ofMeaning(meaning, known, skills)
    }
    const meaning = await readText(text, { skills, known })
    return ofMeaning(known?.skill === undefined ? withData(meaning, known, skills) : meaning, known, skills)
  }
  // Of several parts the last one counts, and a no counts wherever it stands.
  if (data.length > 1 && data.some(saysNo)) data.push({ confirm: false })
  const confirmation = readConfirmation(data, known, skills)
  if (confirmation) return confirmation
  if (known?.pending === undefined) return ofRequest(mergedRequest(data, known, skills), skills)
  // Data that names a skill is a new request, independent of the open question about a text.
  const own = mergedRequest(data, undefined, skills)
  if (own.skill !== undefined) return ofRequest(own, skills)
  if (declines(known, own)) return refused(known)
  refuseLarge([known.fields, own.fields])
  return ofMeaning(answerWithData(known, own, skills), known, skills)
}

/** Whether a request is complete, so that it stopped for a reason of its skill. */
function isWhole(known: Request | undefined, skills: Skills): known is Request & { skill: string } {
  const skill = known?.skill !== undefined && known.pending === undefined && skills.get(known.skill)
  return skill && straysOf(skill, known).length === 0 ? judge(skill, fieldsOf(known)).kind === 'fit' : false
}

function ofMeaning(meaning: Meaning, known: Request | undefined, skills: Skills): Turn {
  if (meaning.kind === 'request') {
    const { skill, fields, understood } = meaning
    return ofRequest({ skill, fields, understood }, skills)
  }
  const request = (meaning.kind === 'ask' ? meaning.request : undefined) ?? known ?? { fields: {} }
  return meaning.kind === 'declined'
    ? { kind: 'stop', state: 'canceled', request, reason: meaning.understood }
    : { kind: 'stop', state: 'input-required', request, reason: meaning.question }
}

const fieldsOf = ({ skill, fields }: Request) => ({ ...fields, skill })

const ask = (request: Request, reason: string): Turn => ({ kind: 'stop', request, state: 'input-required', reason })

function ofRequest(given: Request, skills: Skills): Turn {
  if (given.skill === undefined)
    return ask(given, `Send the missing field: skill, one of ${[...skills.keys()].join(', ')}.`)
  const skill = skills.get(given.skill)
  if (!skill) throw noSkill(given.skill, skills)
  if (declines(given, given)) return refused(given)
  const settled = settle(skill, given.fields)
  const request = 'wrong' in settled ? given : { ...given, fields: settled.fields }
  const judgement =
    'wrong' in settled ? { kind: 'wrong' as const, reason: settled.wrong } : judge(skill, fieldsOf(request))
  if (judgement.kind === 'wrong') return { kind: 'stop', request, state: 'rejected', reason: `${judgement.reason}.` }
  const strays = straysOf(skill, request)
  const missing = judgement.kind === 'missing' ? askFor(judgement.names) : ''
  if (strays.length > 0) return ask(request, [missing, askAbout(skill, strays)].filter(Boolean).join(' '))
  if (missing) return ask(request, missing)
  return { kind: 'run', request, skill }
}

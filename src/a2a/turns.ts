import { answerWithData, withData } from './data-answers.ts'
import { isObject } from './dialects/fields.ts'
import { AgentError, invalid } from './errors.ts'
import type { Message, Request } from './model.ts'
import { askFor, judge } from './skills/check.ts'
import type { Skills } from './skills/registry.ts'
import type { Skill } from './skills/skill.ts'

/** What a text was taken to mean: a request, a question because it is not clear, or that nothing is to be done. */
export type Reading =
  | { kind: 'request'; skill: string; fields: Record<string, unknown>; understood: string }
  | { kind: 'ask'; question: string; request?: Request }
  | { kind: 'declined'; understood: string }

/** What is known when a text is read: the skills there are, and the request that the task is about so far. */
export interface TextContext {
  skills: Skills
  known: Request | undefined
}

/** Reads a message that is only text. Passed in, so that what reads is a pure function of its own. */
export type ReadText = (text: string, context: TextContext) => Reading | Promise<Reading>

/** What a message makes of its task. */
export type Turn =
  | { kind: 'run'; request: Request; skill: Skill }
  | { kind: 'stop'; request: Request; state: 'input-required' | 'rejected' | 'canceled'; reason: string }

export async function takeTurn(
  message: Message,
  known: Request | undefined,
  { skills, readText }: { skills: Skills; readText: ReadText }
): Promise<Turn> {
  const data: unknown[] = []
  for (const part of message.parts) {
    if ('raw' in part || 'url' in part)
      throw new AgentError('content_type_not_supported', 'Files are not taken: send text, or data with a skill.')
    if ('data' in part) data.push(part.data)
  }
  if (data.length === 0) {
    const text = message.parts.map((part) => ('text' in part ? part.text : '')).join('\n')
    const reading = await readText(text, { skills, known })
    const whole = known?.skill !== undefined && known.pending === undefined && skills.get(known.skill)
    // What stopped was not the request itself: any word goes on with it, but a no.
    if (known && whole && reading.kind !== 'declined' && judge(whole, fieldsOf(known)).kind === 'fit')
      return { kind: 'run', request: known, skill: whole }
    return ofReading(known?.skill === undefined ? withData(reading, known, skills) : reading, known, skills)
  }
  if (known?.pending === undefined) return ofRequest(mergedRequest(data, known, skills), skills)
  // What names a skill is a request of its own: nothing that a text left open is meant for it.
  const own = mergedRequest(data, undefined, skills)
  if (own.skill !== undefined) return ofRequest(own, skills)
  refuseLarge([known.fields, own.fields])
  return ofReading(answerWithData(known, own.fields, skills), known, skills)
}

function ofReading(reading: Reading, known: Request | undefined, skills: Skills): Turn {
  if (reading.kind === 'request') {
    const { skill, fields, understood } = reading
    return ofRequest({ skill, fields, understood }, skills)
  }
  const request = (reading.kind === 'ask' ? reading.request : undefined) ?? known ?? { fields: {} }
  return reading.kind === 'declined'
    ? { kind: 'stop', state: 'canceled', request, reason: reading.understood }
    : { kind: 'stop', state: 'input-required', request, reason: reading.question }
}

const fieldsOf = ({ skill, fields }: Request) => ({ ...fields, skill })

const namesSkill = (part: unknown) => isObject(part) && part.skill !== undefined && part.skill !== null

/** What no skill knows is not kept from message to message: a task would grow without end. */
function meant(name: string, skills: Skills): boolean {
  if (name === 'skill') return false
  for (const { schema } of skills.values()) if (Object.hasOwn(schema.properties, name)) return true
  return false
}
const mostFields = 10 * 1024 * 1024

function refuseLarge(fields: unknown): void {
  if (JSON.stringify(fields).length > mostFields)
    throw invalid('message.parts', 'with what was sent before, the request is too large')
}

function mergedRequest(data: unknown[], known: Request | undefined, skills: Skills): Request {
  const named = data.filter(namesSkill)
  if (named.length > 1) throw invalid('message.parts', 'only one data part may name a skill')
  const skill = (named[0] as { skill?: unknown } | undefined)?.skill
  if (skill !== undefined && typeof skill !== 'string') throw invalid('skill', 'must be a string')
  if (skill !== undefined && !skills.has(skill)) throw noSkill(skill, skills)
  // Another skill is another request: nothing of the one before is meant for it.
  const before = skill === undefined || known?.skill === undefined || known.skill === skill ? known : undefined
  const fields: Record<string, unknown> = { ...before?.fields }
  for (const part of data) {
    if (!isObject(part)) continue
    for (const name of Object.keys(part)) if (meant(name, skills)) fields[name] = part[name]
  }
  if (before) refuseLarge(fields)
  const chosen = skill ?? before?.skill
  return chosen === undefined ? { fields } : { skill: chosen, fields }
}

const noSkill = (skill: string, skills: Skills) =>
  new AgentError(
    'skill_not_found',
    `There is no skill ${skill.slice(0, 100)}. There are ${[...skills.keys()].join(', ')}.`
  )

function ofRequest(request: Request, skills: Skills): Turn {
  const ask = (reason: string): Turn => ({ kind: 'stop', request, state: 'input-required', reason })
  if (request.skill === undefined) return ask(`Send the missing field: skill, one of ${[...skills.keys()].join(', ')}.`)
  const skill = skills.get(request.skill)
  if (!skill) throw noSkill(request.skill, skills)
  const judgement = judge(skill, fieldsOf(request))
  if (judgement.kind === 'wrong') return { kind: 'stop', request, state: 'rejected', reason: `${judgement.reason}.` }
  if (judgement.kind === 'missing') return ask(askFor(judgement.names))
  return { kind: 'run', request, skill }
}

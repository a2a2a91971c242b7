import { isDeepStrictEqual } from 'node:util'
import type { Message, Request } from '../../../src/a2a/model.ts'
import { readBy } from '../../../src/a2a/turns/texts.ts'
import { takeTurn } from '../../../src/a2a/turns/turns.ts'
import { read, skills } from '../skills.ts'
import type { Action, Case, Class } from './cases.ts'

const readText = readBy(read)

/** The result of a conversation: an action at one of its turns, or the state and words in which it stopped. */
export type Outcome = { did: Action; turn: number } | { said: string }

/** Reads the texts one after the other for one task, as the service does, and stops when an action begins. */
export async function converse(turns: string[]): Promise<Outcome> {
  let known: Request | undefined
  let said = ''
  for (const [index, text] of turns.entries()) {
    const message: Message = { messageId: 'm', role: 'user', parts: [{ text }] }
    const turn = await takeTurn(message, known, { skills, readText })
    if (turn.kind === 'run') return { did: { skill: turn.skill.id, data: turn.request.fields }, turn: index }
    said = `${turn.state}: ${turn.reason}`
    if (turn.state !== 'input-required') break
    // As the database returns it.
    known = JSON.parse(JSON.stringify(turn.request))
  }
  return { said }
}

/** Whether an action only reads: it changes nothing and reaches no one. */
const looks = ({ skill }: Action) => skills.get(skill)?.effect === 'read'

/** The action as it is stored; absent properties equal an empty object. */
const plain = ({ skill, data: { properties, ...data } }: Action) =>
  JSON.parse(JSON.stringify({ skill, ...data, properties: properties ?? {} }))
export const sameAction = (one: Action, other: Action): boolean => isDeepStrictEqual(plain(one), plain(other))

export type Verdict = 'done' | 'asked' | 'wrong'

export function judge({ turns, expected }: Case, outcome: Outcome): Verdict {
  if ('said' in outcome) return 'asked'
  const right = 'never' in expected ? [] : 'does' in expected ? expected.does : expected.mayDo
  const isLast = outcome.turn === turns.length - 1
  if (isLast && right.some((action) => sameAction(action, outcome.did))) return 'done'
  return looks(outcome.did) ? 'asked' : 'wrong'
}

export interface Failure {
  one: Case
  outcome: Outcome
  verdict: Verdict
}
export interface Tally extends Record<Verdict, number> {
  name: string
  outcomes: { one: Case; outcome: Outcome }[]
  /** Counts of the clear orders only. */
  clear: number
  clearDone: number
  /** The wrong actions, and the clear orders that were not done. */
  failures: Failure[]
}

export const shown = ({ one: { turns, expected }, outcome }: Failure): string =>
  `${JSON.stringify(turns)}\n  happened: ${JSON.stringify(outcome)}\n  expected: ${JSON.stringify(expected)}`

/** Reads every text of a class. */
export async function tally({ name, cases }: Class): Promise<Tally> {
  const result: Tally = { name, outcomes: [], done: 0, asked: 0, wrong: 0, clear: 0, clearDone: 0, failures: [] }
  for (const one of cases) {
    const outcome = await converse(one.turns)
    const verdict = judge(one, outcome)
    result[verdict]++
    result.outcomes.push({ one, outcome })
    const isClear = 'does' in one.expected
    if (isClear) result.clear++
    if (isClear && verdict === 'done') result.clearDone++
    if (verdict === 'wrong' || (isClear && verdict !== 'done')) result.failures.push({ one, outcome, verdict })
  }
  return result
}

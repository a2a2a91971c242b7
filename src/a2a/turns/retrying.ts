import { isDeepStrictEqual } from 'node:util'
import type { Request } from '../model.ts'
import type { Skills } from '../skills/skills.ts'
import type { Reading } from '../text/reading.ts'
import type { Meaning, ReadText } from './meaning.ts'

/** A text that asks for nothing but another try, and is short: blanks of a long one would be tried in every division. */
const mostOfRetry = 200
const retry = /^\s*(?:please[\s,]+)?(?:retry|try(?:\s+(?:it|that))?\s+again|again)(?:[\s,]+(?:now|please))*[\s.!]*$/i

const question = 'It waits for another try. Say "retry" when the setup is done, or "no" to leave it.'

/** The meaning of a text for a request that is complete and had to stop. `stays`: the request goes on waiting as it is. */
export type RetryMeaning = Meaning | { kind: 'goes on' } | { kind: 'stays'; question: string }

/**
 * Reads a text that comes while a complete request waits, such as one that lacks a credential. A retry or a yes goes on
 * with it. Every other text is read as a text: a question sends nothing.
 */
export async function readRetry(
  text: string,
  known: Request & { skill: string },
  { skills, readText }: { skills: Skills; readText: ReadText }
): Promise<RetryMeaning> {
  if (text.length <= mostOfRetry && retry.test(text)) return { kind: 'goes on' }
  const { skill, fields, understood = '' } = known
  const pending: Reading = { kind: 'confirm', skill, data: fields, understood, question }
  const meaning = await readText(text, { skills, known: { skill, fields, pending } })
  const isKnown = (other: Partial<Request>) => other.skill === skill && isDeepStrictEqual(other.fields, fields)
  if (meaning.kind === 'request' && isKnown(meaning)) return { kind: 'goes on' }
  // A text that orders nothing of its own leaves what waits as it is.
  const orders = meaning.kind !== 'ask' || (meaning.request?.skill !== undefined && !isKnown(meaning.request))
  if (orders) return meaning
  const said = meaning.question
  return { kind: 'stays', question: said.includes(question) ? said : `${said} ${question}` }
}

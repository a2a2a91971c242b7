import { addFound, conclude, type Draft, draftOf } from './draft.ts'
import { begin, type Forms, isAll, splitOf, textOf, wholes } from './forms.ts'
import { readOrder } from './orders.ts'
import type { Found } from './pattern.ts'
import { declined, type Reading } from './reading.ts'
import type { Token } from './tokens.ts'

/** Goes on with a question. A new order in the place of an answer counts as an order. */
export function answer(forms: Forms, previous: Reading, text: string): Reading {
  if (previous.kind !== 'ask' && previous.kind !== 'confirm') return readOrder(forms, text)
  const split = splitOf(forms, text)
  if ('kind' in split || split.fault !== undefined) return again(previous)
  if (isAll(forms.rules.no, split.tokens)) return declined
  if (previous.kind === 'confirm' && isAll(forms.rules.yes, split.tokens)) {
    const { skill, data, understood } = previous
    return { kind: 'act', skill, data, understood }
  }
  const filled = previous.kind === 'ask' ? fill(forms, previous, split.tokens) : undefined
  if (filled) return filled
  const order = readOrder(forms, text)
  // What is no order either leaves an open gap open. It puts off what waits for a yes.
  const isUnclear = order.kind === 'ask' && order.missing.length === 0
  const hasGap = previous.kind === 'ask' && previous.missing.length > 0
  return order.kind === 'none' || (isUnclear && hasGap) ? again(previous) : order
}

function again<Asked extends Reading & { question: string }>(previous: Asked): Asked {
  const said = 'I did not understand that. '
  return previous.question.startsWith(said) ? previous : { ...previous, question: said + previous.question }
}

/** The earlier reading with what the answer adds; undefined if the text is no answer to the question. */
function fill(forms: Forms, previous: Reading & { kind: 'ask' }, tokens: readonly Token[]): Reading | undefined {
  const text = textOf(forms, previous.skill)
  const need = text?.needs.find(({ asked }) => asked === previous.missing[0])
  if (!text || !need) return undefined
  const draft = draftOf(text, previous.data)
  draft.note = previous.note
  const { candidate } = previous
  if (candidate !== undefined)
    for (const [rule, slot] of [['user', 'projectUserId'] as const, ['device', 'deviceId'] as const])
      if (isAll(forms.rules[rule], tokens)) return withFound(draft, { slot, value: candidate, before: undefined })
  const { full, bare } = forms.answers.get(need)!
  const [given] = wholes(begin(tokens), full)
  if (given) return withFound(draft, given.found)
  const [sole] = bare ? wholes(begin(tokens), bare) : []
  if (!sole) return undefined
  // One word may be a yes or a no in a language we do not know, unless it is quoted or no word at all.
  const name = String(sole.found!.value)
  const isSure = tokens.some(({ kind }) => kind === 'quoted') || /[\d_@|]/.test(name)
  if (!isSure) draft.note ??= `I take ${JSON.stringify(name)} as the answer.`
  return withFound(draft, sole.found)
}

function withFound(draft: Draft, found: Found | undefined): Reading {
  addFound(draft, found)
  return conclude(draft)
}

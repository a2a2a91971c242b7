import { addFound, conclude, type Draft, draftOf } from './draft.ts'
import { begin, type Forms, isAll, longest, splitOf, wholes } from './forms.ts'
import type { Run } from './pattern.ts'
import { asData, declined, nothingRead, type Reading, unclear, unclearNo } from './reading.ts'
import type { Form, SkillText } from './skill-text.ts'
import { shown, type Token } from './tokens.ts'
import { negates } from './words.ts'

/** Reads a text that is to be an order of its own. */
export function readOrder(forms: Forms, text: string): Reading {
  const split = splitOf(forms, text)
  if ('kind' in split) return split
  if (/^\s*(?:```\w*\s*)?\{(?!\{)/.test(text)) return asData
  const { fault } = split
  const tokens = withWords(forms, split.tokens, longest(forms.rules.opening, split.tokens).at)
  const opened = longest(forms.rules.opening, tokens)
  if (isAll(forms.rules.no, tokens) || forbids(forms, tokens, opened.at)) return declined
  const attempts = forms.forms.map((one) => {
    const run = begin(tokens)
    return { ...one, run, ends: wholes(run, one.step, opened.at) }
  })
  const best = attempts.reduce((one, other) => (other.run.furthest > one.run.furthest ? other : one))
  if (best.run.furthest <= opened.at) return negates(tokens) ? unclearNo : nothingRead(forms.texts)
  if (fault !== undefined) return unclear(best, fault)
  const drafts = attempts.flatMap(({ text, form, ends }) =>
    ends.map(({ found }) => {
      const draft = draftOf(text, {})
      draft.note = form.because
      addFound(draft, found)
      return draft
    })
  )
  // A form that is done at once goes before one that proposes the same.
  const first = drafts.find(({ note }) => note === undefined) ?? drafts[0]
  if (!first) return notWhole(forms, best, opened.at)
  if (drafts.some((other) => !isSame(first, other))) return unclear(best, 'I can read this in two ways.')
  // "Create user ana?" is no order, "Could you create user ana?" is one.
  const asks = tokens.some((token) => token.kind === 'mark' && token.text === '?')
  return conclude(first, asks && opened.found?.slot !== 'asked')
}

/** The id of a skill in the place of the verb counts as its words: `create-user ana`. */
function withWords({ texts }: Forms, tokens: readonly Token[], at: number): readonly Token[] {
  const first = tokens[at]
  if (first?.kind !== 'word' || !texts.some(({ skill }) => skill === first.lower)) return tokens
  const words = first.lower.split('-').map((word): Token => ({ kind: 'word', text: word, lower: word }))
  return tokens.toSpliced(at, 1, ...words)
}

const isSame = ({ note: _, ...one }: Draft, { note: __, ...other }: Draft): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** A text that begins like a form and is none as a whole. After a verb alone it may be about anything. */
function notWhole({ texts }: Forms, nearest: { text: SkillText; form: Form; run: Run }, opened: number): Reading {
  const { tokens, furthest, because } = nearest.run
  const rest = tokens[furthest]
  if (negates(tokens)) return unclearNo
  if (because !== undefined) return unclear(nearest, because)
  if (rest === undefined) return unclear(nearest, `Something is missing after ${JSON.stringify(shown(tokens.at(-1)))}.`)
  if (furthest <= opened + 1) return nothingRead(texts)
  return unclear(nearest, `I do not understand ${JSON.stringify(shown(rest))} here.`)
}

/** "Do not create …", "Never send …": a negation right before a verb. */
function forbids({ rules, stems }: Forms, tokens: readonly Token[], opened: number): boolean {
  const { at } = longest(rules.forbidding, tokens, opened)
  const verb = tokens[at]
  return at > opened && verb?.kind === 'word' && stems.some((stem) => verb.lower.startsWith(stem))
}

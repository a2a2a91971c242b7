import { describedSkills, textsOf } from '../skills/skills.ts'
import { createGrammar, type Grammar, longestText } from './grammar.ts'
import { rules } from './rules.ts'
import type { Form, SkillText } from './skill-text.ts'

/** Prints docs/reference/agent-texts.md; a test compares the two. */
export function printTextDocs(): string {
  const texts = textsOf(describedSkills())
  const grammar = createGrammar(texts)
  return `# Texts of agents

An agent may send plain text instead of a data part. Tidings reads it with a small fixed grammar: no model, no network, the
same reading every time. A text is done only if **all of it, from the first to the last word, is one of the forms on this
page**. Every other text leads to a question, and nothing is done. For programs, a data part with the field \`skill\` is the
better way. For example:

> Send a push to user ana with title "Hello" and body "Welcome back"

## Forms

\`a|b\` is one of these words, \`[ … ]\` may be left out, \`( … | … )\` is one of these phrases, \`{ … }\` may be repeated or left
out, and \`<…>\` is a name, a value or one of the [parts](#parts) below. Capital letters make no difference outside names.

${texts.map((text) => sectionOf(text, grammar)).join('\n\n')}

## Parts

${Object.entries(rules)
  .map(([name, pattern]) => `- \`<${name}>\`: ${code(pattern)}`)
  .join('\n')}

\`<title>\`, \`<body>\` and \`<quotedEventName>\` are quoted texts, \`<imageUrl>\` and \`<landingUrl>\` addresses, \`<json>\` a JSON object, \`<property>\`
and \`<having>\` a property. All others are names. \`<candidate>\` is one of which the text does not say whether it is a user
or a device, so the task asks.

Before an order may stand any number of \`<opening>\`, and after it any number of \`<closing>\`, with the usual marks. The id of
a skill may replace its words: \`create-user ana\` is \`create user ana\`.

## Names and values

- **Names and ids** are one word of letters and digits of any script and the signs \`. _ - @ | + : /\`, or stand in quotes:
  \`ana@example.com\`, \`auth0|5f7c\`, \`山田\`, \`"Ana Maria"\`. Quote a name with any other sign, with a sign at its end, or with
  Latin letters beside Chinese, Japanese or Thai ones. Quote a name that is a word of a form, a pronoun, a no, a time, or an
  answer like \`ok\`. A user's id is the project's own, and a user's name is a property.
- **Properties** are \`name=value\`, or a JSON object. A name that may tell the agent how to act, such as \`exclude\`, \`dry-run\`,
  \`send_at\` or \`onlyIf\`, is asked about; put it in quotes (\`"exclude"=…\`), or send data.
- **Values** without quotes have the signs of names. \`31\`, \`-2.5\`, \`true\` and \`false\` are numbers and booleans. A number that
  would be written in another way stays text: \`1.10\`, \`007\`, \`1e5\`. Quote \`null\` and \`None\`.
- **Quotes** of all usual kinds work: \`"…"\`, \`'…'\`, \`“…”\`, \`„…“\`, \`«…»\`, and backticks. The texts of a push stand in quotes.
- **Length.** Texts of more than ${longestText.toLocaleString('en-US')} characters are not read.

## What else becomes of a text

- **A proposal.** The task asks \`I understood: … Shall I?\`, and a yes does exactly that. It proposes the forms above that
  *ask for a yes*, everything that reaches everyone or a campaign's default audience, and a form with a question mark
  (\`Create user ana?\`), unless that begins with \`could you\` or the like. Skills that only read need no yes.
- **A question.** A form that lacks a name, a recipient or a text asks for it. Every other text asks to be said again, with the
  example that is nearest: a condition, a time, an exception, two orders, a remark, a word that is in no form.
- **A no.** \`Do not …\`, \`Never …\` and the like before a verb leave the task \`canceled\`. A no in another place is asked about.

## Answers

An answer is exactly what was asked for: \`user ana\`, \`event purchase\`, \`for users ana and bo\`, \`title "Hi"\`. A name alone is
taken if it is quoted, or has a digit or one of \`@ _ |\`. Another single word needs a yes, because it may be a yes or a no in any
language. After \`Is "ana" a user or a device?\`, \`a user\` is enough. \`no\`, \`cancel\` or \`never mind\` ends the task. A new
order replaces an answer.

\`npm run docs\` prints this page from \`src/a2a/text/\` and \`src/a2a/skills/\`.
`
}

const code = (pattern: string) => `\`${pattern.replaceAll(/\s+/g, ' ')}\``

function sectionOf({ skill, forms }: SkillText, grammar: Grammar): string {
  const rows = forms.map((form) => `- ${code(form.pattern)}\n  “${form.example}” ${whatBecomesOf(form, grammar)}`)
  return `### ${skill}\n\n${rows.join('\n')}`
}

function whatBecomesOf({ example, because }: Form, grammar: Grammar): string {
  const reading = grammar.read(example)
  if (reading.kind === 'act') return 'is done.'
  if (reading.kind === 'confirm') return because === undefined ? 'asks for a yes.' : `asks for a yes: ${because}`
  return 'question' in reading ? `asks: ${reading.question}` : reading.kind
}

import { type Class, classOf, mayDo, never } from '../cases.ts'
import { simpleOrder, small } from '../orders.ts'

const asked = [
  'How do I $o?',
  'How can I $o?',
  'How would one $o?',
  'Did you $o?',
  'Did anybody $o?',
  'Can I $o?',
  'May I $o?',
  'Should I $o?',
  'Should we $o?',
  'Why should we $o?',
  'Why did you $o?',
  'When did you $o?',
  'Who told you to $o?',
  'Is it possible to $o?',
  'Is it allowed to $o?',
  'What happens if I $o?',
  'What would it cost to $o?',
  'Do you know how to $o?',
  'Are you able to $o?',
  'Would it be a good idea to $o?',
  'I wonder whether to $o',
  'I am thinking about whether to $o',
  'Do we really have to $o?',
  'Have you ever tried to $o?',
  'What does "$O" do?',
  'Does "$o" work?',
  'Is "$O" a valid command?',
  '$O: is that a good idea?',
  '$O? Or what do you think?',
  '$O - what would that do?',
  'Was it you who said to $o?',
  'What is the difference between "$o" and nothing?'
]
const reported = [
  'He said "$O"',
  'She told me: "$O"',
  'My colleague wrote: $O',
  'The manual says: $O',
  'The docs have this example: $O',
  'For example: $O',
  'e.g. $O',
  'An example of a text is "$O"',
  'Bo asked me to $o',
  'They wanted to $o',
  'They tried to $o',
  'I was told to $o',
  'Yesterday someone asked to $o',
  'In the meeting somebody said: $O',
  'Translate into German: $O',
  'Translate "$O" into French',
  'Summarize: $O',
  'Explain "$O"',
  'Repeat after me: $O',
  'Write a text like "$O"',
  'The phrase "$O" is clear',
  'Imagine I wrote: $O',
  'I already asked another agent to $o',
  'Bo will $o',
  'The other agent is going to $o',
  'I used to $o',
  'Our system can $o',
  'You said you would $o',
  'The customer claims that you did $o',
  '"$O" was my last order',
  'On Mon, Bo wrote:\n> $O',
  'Log: $O failed with 500',
  'Title of the ticket: $O'
]

/** Questions about an order, and reports of what others said. */
export const questions: Class = classOf('questions and reports', 290, (draw, index) => {
  const { text, action } = simpleOrder(draw)
  if (index % 30 === 0) return mayDo(`${text}?`, action)
  const all = [...asked, ...reported]
  return never(all[index % all.length]!.replace('$O', () => text).replace('$o', () => small(text)))
})

// Prints the results of the corpus, and the texts with wrong results: `node test/a2a/corpus/report.ts`.
import { corpus } from './corpus.ts'
import { shown, type Tally, tally } from './judge.ts'

const all: Tally[] = []
for (const one of corpus) all.push(await tally(one))
const total = (name: 'done' | 'asked' | 'wrong' | 'clear' | 'clearDone') =>
  all.reduce((sum, { [name]: more }) => sum + more, 0)
console.log('| Class | Texts | Done | Asked | Wrong | Clear orders done |\n|---|---|---|---|---|---|')
for (const { name, done, asked, wrong, clear, clearDone } of all)
  console.log(`| ${name} | ${done + asked + wrong} | ${done} | ${asked} | ${wrong} | ${clearDone} of ${clear} |`)
const [done, asked, wrong] = [total('done'), total('asked'), total('wrong')]
console.log(
  `| all | ${done + asked + wrong} | ${done} | ${asked} | ${wrong} | ${total('clearDone')} of ${total('clear')} |`
)
for (const { name, failures } of all)
  for (const failure of failures) console.log(`\n${name}, ${failure.verdict}: ${shown(failure)}`)

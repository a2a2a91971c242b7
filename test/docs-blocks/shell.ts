export interface Command {
  /** Variables set before the command, or alone. */
  assigned: string[]
  words: string[]
}

const operators = /^(&&|\|\||;|\||&)/

/**
 * The commands of a line for a POSIX shell: quotes, comments, redirections, `$(…)`, and variables of the given values. It
 * knows as much of the language as these pages use, and throws at anything else.
 */
export function commandsOf(line: string, variables: Record<string, string> = {}): Command[] {
  const commands: Command[] = [{ assigned: [], words: [] }]
  let rest = line.trim()
  while (rest !== '') {
    const operator = operators.exec(rest)?.[0]
    const redirected = /^[12]?(>>?|<)(?!\()\s*/.exec(rest)?.[0]
    if (rest.startsWith('#')) break
    else if (operator) {
      commands.push({ assigned: [], words: [] })
      rest = rest.slice(operator.length).trimStart()
    } else if (redirected) rest = wordOf(rest.slice(redirected.length), variables).rest
    else {
      const { word, rest: after, quoted } = wordOf(rest, variables)
      const command = commands.at(-1)!
      const name = /^([A-Z][A-Z0-9_]*)=/.exec(word)?.[1]
      if (name && command.words.length === 0 && !quoted) command.assigned.push(name)
      else command.words.push(word)
      rest = after
    }
  }
  return commands.filter(({ assigned, words }) => assigned.length + words.length > 0)
}

function wordOf(text: string, variables: Record<string, string>): { word: string; rest: string; quoted: boolean } {
  const quoted = /^['"]/.test(text)
  let word = ''
  let at = 0
  while (at < text.length && !/[\s;|&]/.test(text[at]!)) {
    const here = text.slice(at)
    const [all, part] = partOf(here, variables)
    word += part
    at += all
  }
  return { word, quoted, rest: text.slice(at).trimStart() }
}

/** The length of the next part of a word in the line, and its value. */
function partOf(here: string, variables: Record<string, string>): [number, string] {
  const single = /^'([^']*)'/.exec(here)
  if (single) return [single[0].length, single[1]!]
  const double = /^"((?:[^"\\]|\\.)*)"/s.exec(here)
  if (double) return [double[0].length, filled(double[1]!, variables).replace(/\\(["\\$`])/g, '$1')]
  const substituted = /^\$\([^()]*\)/.exec(here)
  if (substituted) return [substituted[0].length, 'substituted']
  const variable = /^\$\{?(\w+)\}?/.exec(here)
  if (variable) return [variable[0].length, filled(variable[0], variables)]
  if (/^['"]/.test(here)) throw new Error(`a quote is not closed: ${here}`)
  return here.startsWith('\\') ? [2, here[1]!] : [1, here[0]!]
}

const filled = (text: string, variables: Record<string, string>) =>
  text
    .replace(/(?<!\\)\$\([^()]*\)/g, 'substituted')
    .replace(/(?<!\\)\$\{?(\w+)\}?/g, (_, name: string) => variables[name] ?? `value-of-${name}`)

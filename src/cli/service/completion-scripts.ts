import type { Command } from 'commander'

/** What may be typed next: a word, and what it is. */
interface Word {
  text: string
  about: string
}

/** A command, by the words that lead to it: ` key create`. The program itself is the empty one. */
interface Place {
  path: string
  words: Word[]
  /** Options whose values are known. */
  values: { option: string; choices: readonly string[] }[]
}

/** The program and all commands below it. */
export function placesOf(command: Command, path = ''): Place[] {
  const { commands, options, registeredArguments } = command
  const words = [
    ...commands.map((one) => ({ text: one.name(), about: one.description() })),
    ...registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((text) => ({ text, about: description }))
    ),
    ...options.flatMap(({ long, description }) => (long ? { text: long, about: description } : [])),
    { text: '--help', about: 'Print this help' }
  ]
  const values = options.flatMap(({ long, short, argChoices }) =>
    argChoices ? [long, short].flatMap((option) => (option ? { option, choices: argChoices } : [])) : []
  )
  return [{ path, words, values }, ...commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`))]
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const anyOf = (texts: string[]) => texts.map(quoted).join('|')

/** Branches of a `case`, which bash and zsh write alike. */
const branches = (lines: [pattern: string, action: string][]) =>
  lines.map(([pattern, action]) => `    (${pattern}) ${action} ;;`).join('\n')

const pathsOf = (places: Place[]) => anyOf(places.flatMap(({ path }) => path || []))

const valuesOf = (places: Place[], action: (choices: readonly string[]) => string) =>
  places.flatMap(({ path, values }) =>
    values.map(({ option, choices }): [string, string] => [quoted(`${path} ${option}`), action(choices)])
  )

/** Needs nothing but bash itself, also the old one of macOS. */
export function bashScript(places: Place[]): string {
  const texts = (words: { text: string }[]) => words.map(({ text }) => text).join(' ')
  return `# Completion of tidings for bash: source <(tidings completion bash)
_tidings() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" place='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      (${pathsOf(places)}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place" in
${branches(places.map(({ path, words }) => [quoted(path), `words=${quoted(texts(words))}`]))}
  esac
  case "$place $prev" in
${branches(valuesOf(places, (choices) => `words=${quoted(choices.join(' '))}`))}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _tidings tidings
`
}

/** The place is not called path: in zsh that is the list of folders with programs. */
export function zshScript(places: Place[]): string {
  const described = ({ text, about }: Word) => quoted(`${text}:${about}`)
  return `#compdef tidings
# Completion of tidings for zsh: tidings completion zsh > a folder of $fpath/_tidings
_tidings() {
  local place='' word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${pathsOf(places)}) place="$place $word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${branches(valuesOf(places, (values) => `choices=(${values.map(quoted).join(' ')}); _describe value choices; return`))}
  esac
  case "$place" in
${branches(places.map(({ path, words }) => [quoted(path), `choices=(${words.map(described).join(' ')})`]))}
  esac
  _describe tidings choices || _files
}
if [[ "\${funcstack[1]}" = _tidings ]]; then
  _tidings "$@"
else
  compdef _tidings tidings
fi
`
}

import type { Command } from 'commander'

/** A word that may be typed next, with its description. */
interface Word {
  text: string
  about: string
}

/** A command, by its path: ` key create`. The path of the program itself is empty. */
interface Place {
  path: string
  words: Word[]
  /** Options with a fixed set of values. */
  values: { option: string; choices: readonly string[] }[]
}

/** The program and all its commands. */
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

/** Branches of a `case`, in a syntax that bash and zsh share. */
const branches = (lines: [pattern: string, action: string][]) =>
  lines.map(([pattern, action]) => `    (${pattern}) ${action} ;;`).join('\n')

const pathsOf = (places: Place[]) => anyOf(places.flatMap(({ path }) => path || []))

const valuesOf = (places: Place[], action: (choices: readonly string[]) => string) =>
  places.flatMap(({ path, values }) =>
    values.map(({ option, choices }): [string, string] => [quoted(`${path} ${option}`), action(choices)])
  )

/** Runs on plain bash, also on version 3 of macOS. */
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

/** The variable is not called path, which zsh uses for the folders of programs. */
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

import type { Command, Options } from './command.ts'

type Commands = Readonly<Record<string, Command>>

/** The shells that have completion. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** An option to complete. */
interface Option {
  readonly name: string
  readonly short: string | undefined
  readonly takesValue: boolean
  /** The allowed values; empty: any. */
  readonly values: readonly string[]
  readonly description: string
}

/** The completions after a command. */
interface Following {
  readonly name: string
  readonly summary: string
  readonly words: readonly string[]
  readonly options: readonly Option[]
}

/**
 * Returns a shell script that completes commands, their words, options and option values. Built from the same table as the help.
 * @param globalOptions the options of every command.
 */
export function completionScript(shell: (typeof shells)[number], commands: Commands, globalOptions: Options): string {
  const all = Object.entries(commands).map(([name, command]) => followingOf(name, command, globalOptions))
  if (shell === 'fish') return fishScript(all)
  const script = bashScript(all)
  return shell === 'bash'
    ? script
    : `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${script}`
}

function followingOf(name: string, command: Command, globalOptions: Options): Following {
  const { summary, words = [], values = {}, describe = {} } = command
  const options = Object.entries({ ...command.options, ...globalOptions }).map(([option, { type, short }]) => ({
    ...{ name: option, short, takesValue: type === 'string' },
    ...{ values: values[option] ?? [], description: describe[option] ?? '' },
  }))
  return { name, summary, words, options }
}

const spellings = ({ name, short }: Option) => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`])

/** Where the script offers nothing, bash completes file names. */
function bashScript(all: readonly Following[]): string {
  const values = all.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const pattern = spellings(option).map((each) => `${name}:${each}`)
        return `    ${pattern.join('|')}) words='${option.values.join(' ')}' ;;`
      }),
  )
  const following = all.map(({ name, words, options }) => {
    const offered = [...words, ...options.map((option) => `--${option.name}`)]
    return `    ${name}:*) words='${offered.join(' ')}' ;;`
  })
  return `_allclear() {
  local words='${all.map(({ name }) => name).join(' ')} --help --version'
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}:\${COMP_WORDS[COMP_CWORD-1]}" in
${[...values, ...following].join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _allclear allclear`
}

function fishScript(all: readonly Following[]): string {
  const isFirst = `not __fish_seen_subcommand_from ${all.map(({ name }) => name).join(' ')}`
  const lines = all.flatMap(({ name, summary, words, options }) => {
    const isThis = `__fish_seen_subcommand_from ${name}`
    return [
      `complete -c allclear -f -n '${isFirst}' -a ${name} -d '${quoted(summary)}'`,
      ...(words.length === 0 ? [] : [`complete -c allclear -f -n '${isThis}' -a '${words.join(' ')}'`]),
      ...options.map((option) => {
        const parts = [
          `complete -c allclear -n '${isThis}' -l ${option.name}`,
          ...(option.short === undefined ? [] : [`-s ${option.short}`]),
          ...(option.values.length > 0 ? [`-x -a '${option.values.join(' ')}'`] : option.takesValue ? ['-r'] : []),
          ...(option.description === '' ? [] : [`-d '${quoted(option.description)}'`]),
        ]
        return parts.join(' ')
      }),
    ]
  })
  return lines.join('\n')
}

const quoted = (text: string) => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")

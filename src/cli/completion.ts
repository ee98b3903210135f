import type { Command } from './command.ts'

type Commands = Readonly<Record<string, Command>>

/** The shells that have completion. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** Returns the script with which a shell completes commands, their words and their options. */
export function completionScript(
  shell: (typeof shells)[number],
  commands: Commands,
  globalOptions: readonly string[],
): string {
  const names = Object.keys(commands)
  const following = (name: string) => [
    ...(commands[name]?.words ?? []),
    ...[...Object.keys(commands[name]?.options ?? {}), ...globalOptions].map((option) => `--${option}`),
  ]
  if (shell === 'fish') {
    const isFirst = `not __fish_seen_subcommand_from ${names.join(' ')}`
    return [
      'complete -c allclear -f',
      ...names.map(
        (name) => `complete -c allclear -n '${isFirst}' -a ${name} -d '${quoted(commands[name]?.summary ?? '')}'`,
      ),
      ...names.map(
        (name) => `complete -c allclear -n '__fish_seen_subcommand_from ${name}' -a '${following(name).join(' ')}'`,
      ),
    ].join('\n')
  }
  const cases = names.map((name) => `    ${name}) words='${following(name).join(' ')}' ;;`)
  const body = `_allclear() {
  local words='${names.join(' ')}'
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _allclear allclear`
  return shell === 'bash'
    ? body
    : `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${body}`
}

const quoted = (text: string) => text.replaceAll("'", "\\'")

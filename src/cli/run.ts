import { parseArgs } from 'node:util'
import { createClient, RequestError } from '../client/index.ts'
import { parseUrl } from '../core/url.ts'
import { backup, move, restore } from './backup.ts'
import { check } from './check.ts'
import { type Command, EXIT, Failure, type Input, type Service, type Terminal, textOf } from './command.ts'
import { completionScript, shells } from './completion.ts'
import { apply, exportCommand, plan } from './configuration.ts'
import { doctor } from './doctor.ts'
import { importCommand } from './import.ts'
import { incident } from './incident.ts'
import { login } from './login.ts'
import { monitors } from './monitors.ts'
import { columns } from './paint.ts'
import { DEFAULT_PROFILE, readProfiles } from './profiles.ts'
import { status } from './status.ts'
import { tail } from './tail.ts'

/** The options of every command. */
const globalOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  profile: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const globalDescriptions: Readonly<Record<keyof typeof globalOptions, string>> = {
  url: 'the service ($ALLCLEAR_URL, or the profile’s; default http://localhost:4000)',
  key: 'an API key ($ALLCLEAR_KEY, or the profile’s). Others on the machine see options; a profile is safer',
  profile: 'a profile that “allclear login” stored ($ALLCLEAR_PROFILE)',
  json: 'results as JSON',
  help: 'what the command does and takes',
}

const completion: Command = {
  usage: shells.join(' | '),
  summary: 'Print the completion of a shell: source <(allclear completion bash)',
  words: shells,
  async run({ words: [name] }, terminal) {
    const shell = shells.find((each) => each === name)
    if (shell === undefined) throw new Failure(`Name the shell: allclear completion ${shells.join(', ')}`)
    terminal.result(completionScript(shell, commands, Object.keys(globalOptions)))
    return EXIT.ok
  },
}

/** All commands but `serve`, by name. */
const commands: Readonly<Record<string, Command>> = {
  check,
  status,
  incident,
  monitors,
  tail,
  plan,
  apply,
  export: exportCommand,
  import: importCommand,
  doctor,
  backup,
  restore,
  move,
  login,
  completion,
}

/** Runs a command. @returns the exit code. */
export async function runCommand([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return showHelp(name, terminal)
  try {
    const input = parse(args, command)
    if (input.options['help']) return describeCommand(name, command, terminal)
    return await command.run(input, terminal, () => serviceOf(input, terminal))
  } catch (error) {
    if (terminal.signal.aborted) return EXIT.ok
    if (!(error instanceof Failure || error instanceof RequestError)) throw error
    terminal.say(`allclear ${name}: ${error.message}${adviceOn(error)}`)
    return EXIT.failed
  }
}

function adviceOn(error: Error): string {
  if (!(error instanceof RequestError)) return ''
  if (error.code === 'UNREACHABLE') return '\nGive the address with --url, or store it: allclear login'
  return error.code === 'UNAUTHENTICATED' ? '\nGive a key of the organization: allclear login' : ''
}

function parse(args: readonly string[], command: Command): Input {
  try {
    const options = { ...command.options, ...globalOptions }
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { words: positionals, options: values, json: values['json'] === true }
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error))
  }
}

/** Returns the service that the options, the environment or the profile name, in this order. */
async function serviceOf(input: Input, { env }: Terminal): Promise<Service> {
  const name = textOf(input, 'profile') ?? env['ALLCLEAR_PROFILE']
  const profiles = await readProfiles(env)
  const profile = profiles[name ?? DEFAULT_PROFILE]
  if (name !== undefined && profile === undefined) {
    throw new Failure(`There is no profile “${name}”. Store it: allclear login --profile ${name}`)
  }
  const given = textOf(input, 'url') ?? env['ALLCLEAR_URL']
  const url = given ?? profile?.url ?? 'http://localhost:4000'
  if (!/^https?:\/\//.test(url) || parseUrl(url) === null)
    throw new Failure(`${url} is no http:// or https:// address.`)
  // A profile's key is for its own service, and is sent to no other.
  const isProfiles = profile !== undefined && new URL(url).origin === new URL(profile.url).origin
  const key = textOf(input, 'key') ?? (env['ALLCLEAR_KEY'] || (isProfiles ? profile.key : undefined))
  return { url, key, client: createClient({ url, key }) }
}

function showHelp(name: string, terminal: Terminal): number {
  const isAsked = /^(help|-h|--help)$/.test(name)
  const write = isAsked ? terminal.result : terminal.say
  if (!isAsked) write(`allclear: there is no command “${name}”.\n`)
  write('allclear [COMMAND]\n\nWithout a command, it serves. Settings are environment variables; see /docs/settings.\n')
  for (const line of columns(Object.entries(commands).map(([each, { summary }]) => [`  ${each}`, summary]))) write(line)
  write('\nallclear COMMAND --help says more.')
  return isAsked ? EXIT.ok : EXIT.failed
}

function describeCommand(name: string, { usage, summary, details, describe }: Command, terminal: Terminal): number {
  terminal.result(`allclear ${name} ${usage}\n\n${summary}.${details === undefined ? '' : `\n${details}`}\n`)
  const all = { ...describe, ...globalDescriptions }
  for (const line of columns(Object.entries(all).map(([each, text]) => [`  --${each}`, text]))) terminal.result(line)
  return EXIT.ok
}

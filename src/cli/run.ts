import { parseArgs } from 'node:util'
import { createClient, RequestError } from '../client/index.ts'
import { ownValue } from '../core/own-value.ts'
import { packageVersion } from '../core/process/package-version.ts'
import { parseUrl } from '../core/url.ts'
import { backup, move, restore } from './backup.ts'
import { check } from './check.ts'
import {
  type Command,
  EXIT,
  Failure,
  type Input,
  type Options,
  type Service,
  type Terminal,
  textOf,
} from './command.ts'
import { completionScript, shells } from './completion.ts'
import { apply, exportCommand, plan } from './configuration.ts'
import { doctor } from './doctor.ts'
import { checkHealth } from './health.ts'
import { importCommand } from './import.ts'
import { incident } from './incident.ts'
import { login } from './login.ts'
import { monitors } from './monitors.ts'
import { columns, harmlessTerminal, printable } from './paint.ts'
import { DEFAULT_PROFILE, readProfiles } from './profiles.ts'
import { status } from './status.ts'
import { tail } from './tail.ts'

/** The options of all commands. */
const globalOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  profile: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const globalDescriptions: Readonly<Record<keyof typeof globalOptions, string>> = {
  url: 'the address of the service ($ALLCLEAR_URL, or the profile’s; default http://localhost:4000)',
  key: 'an API key ($ALLCLEAR_KEY, or the profile’s). Other users can see options, so prefer a profile',
  profile: 'a profile stored by “allclear login” ($ALLCLEAR_PROFILE)',
  json: 'print results as JSON',
  help: 'show this help',
}

const completion: Command = {
  usage: shells.join(' | '),
  summary: 'Print a completion script for your shell',
  details: 'It completes commands, their words and options, and the values of options.',
  examples: [
    'source <(allclear completion bash)',
    'source <(allclear completion zsh)',
    'allclear completion fish > ~/.config/fish/completions/allclear.fish',
  ],
  exitCodes: { 0: 'printed' },
  words: shells,
  async run({ words: [name] }, terminal) {
    const shell = shells.find((each) => each === name)
    if (shell === undefined) throw new Failure(`Give the shell: allclear completion ${shells.join(', ')}`)
    terminal.result(completionScript(shell, commands, globalOptions))
    return EXIT.ok
  },
}

const serve: Command = {
  usage: '',
  summary: 'Run the service (default)',
  details: 'Settings are environment variables; /docs/settings lists them. SIGTERM stops it within ten seconds.',
  examples: ['allclear', 'PORT=8080 BASE_URL=https://status.example.com allclear'],
  exitCodes: { 0: 'stopped' },
  async run() {
    throw new Failure('“serve” takes no arguments. Set environment variables instead: PORT=8080 allclear')
  },
}

const health: Command = {
  usage: '',
  summary: 'Check that the service runs on this machine, for the health check of a container',
  details: 'It checks the port $PORT (default 4000) and prints nothing.',
  examples: ['PORT=8080 allclear health'],
  exitCodes: { 0: 'running' },
  run: (_input, { env }) => checkHealth(env['PORT']),
}

const help: Command = {
  usage: '[COMMAND]',
  summary: 'List the commands, or describe one',
  examples: ['allclear help', 'allclear help incident'],
  exitCodes: { 0: 'printed' },
  get words() {
    return Object.keys(commands)
  },
  async run({ words: [name] }, terminal) {
    if (name === undefined) return listCommands(terminal.result)
    const command = commandNamed(name)
    if (command === undefined) throw new Failure(unknownCommand(name))
    return describeCommand(name, command, terminal)
  },
}

/** All commands by name, the source of help and completion. */
export const commands: Readonly<Record<string, Command>> = {
  serve,
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
  health,
  help,
}

const commandNamed = (name: string) => ownValue(commands, name)

/** Runs a command. @returns the exit code. */
export async function runCommand([name = '', ...args]: readonly string[], given: Terminal): Promise<number> {
  const terminal = harmlessTerminal(given)
  if (/^(-h|--help)$/.test(name)) return listCommands(terminal.result)
  if (/^(-v|--version|version)$/.test(name)) {
    terminal.result(packageVersion)
    return EXIT.ok
  }
  const command = commandNamed(name)
  if (command === undefined) {
    terminal.say(`allclear: ${unknownCommand(name)}\n`)
    listCommands(terminal.say)
    return EXIT.failed
  }
  try {
    const input = parse(args, command)
    if (input.options['help']) return describeCommand(name, command, terminal)
    return await command.run(input, terminal, () => serviceOf(input, terminal))
  } catch (error) {
    if (terminal.signal.aborted) return EXIT.ok
    if (!(error instanceof Failure || error instanceof RequestError)) throw error
    terminal.say(`allclear ${name}: ${error.message}${adviceOn(error)}`)
    return EXIT.failed
  } finally {
    terminal.progress(null)
  }
}

function adviceOn(error: Error): string {
  if (!(error instanceof RequestError)) return ''
  if (error.code === 'UNREACHABLE') return '\nSet the address with --url, or store it: allclear login'
  return error.code === 'UNAUTHENTICATED' ? '\nStore a key of the organization: allclear login' : ''
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

/** Returns the service from the options, the environment or the profile, in this order. */
async function serviceOf(input: Input, { env }: Terminal): Promise<Service> {
  const name = textOf(input, 'profile') ?? env['ALLCLEAR_PROFILE']
  const profiles = await readProfiles(env)
  const profile = profiles[name ?? DEFAULT_PROFILE]
  if (name !== undefined && profile === undefined) {
    throw new Failure(`There is no profile “${name}”. Create it: allclear login --profile ${name}`)
  }
  const given = textOf(input, 'url') ?? env['ALLCLEAR_URL']
  const url = given ?? profile?.url ?? 'http://localhost:4000'
  if (!/^https?:\/\//.test(url) || parseUrl(url) === null)
    throw new Failure(`${url} is not an http:// or https:// address.`)
  // Never send a profile's key to another service.
  const isProfiles = profile !== undefined && new URL(url).origin === new URL(profile.url).origin
  const key = textOf(input, 'key') ?? (env['ALLCLEAR_KEY'] || (isProfiles ? profile.key : undefined))
  return { url, key, client: createClient({ url, key }) }
}

/** Returns the message for an unknown command, with a suggestion if a similar one exists. */
function unknownCommand(name: string): string {
  const meant = Object.keys(commands).find((each) => isNear(each, name))
  return `There is no command “${printable(name)}”.${meant === undefined ? '' : ` Did you mean “${meant}”?`}`
}

/** Returns whether two words have the same letters, or differ by one missing letter. */
function isNear(word: string, typed: string): boolean {
  const letters = (text: string) => [...text].sort().join('')
  const without = (text: string) => [...text].map((_, index) => letters(text.slice(0, index) + text.slice(index + 1)))
  if (letters(word) === letters(typed)) return true
  return without(word).includes(letters(typed)) || without(typed.slice(0, 20)).includes(letters(word))
}

function listCommands(write: (line: string) => void): number {
  write(
    'allclear [COMMAND]\n\nWithout a command, runs the service. Settings are environment variables; see /docs/settings.\n',
  )
  for (const line of columns(Object.entries(commands).map(([each, { summary }]) => [`  ${each}`, summary]))) write(line)
  write('\nFor details, run: allclear COMMAND --help. Failures exit with 1.')
  return EXIT.ok
}

/** Prints the help of a command: usage, description, options, examples and exit codes. */
function describeCommand(name: string, command: Command, terminal: Terminal): number {
  const { usage, summary, details, options = {}, examples, exitCodes } = command
  const section = (title: string, rows: readonly (readonly string[])[]) => {
    terminal.result(`\n${title}`)
    for (const line of columns(rows)) terminal.result(line)
  }
  terminal.result(`allclear ${name}${usage === '' ? '' : ` ${usage}`}\n`)
  terminal.result(`${summary}.${details === undefined ? '' : `\n${details}`}`)
  const described: Readonly<Record<string, string>> = { ...command.describe, ...globalDescriptions }
  section(
    'Options',
    Object.entries<Options[string]>({ ...options, ...globalOptions }).map(([option, { type, short }]) => [
      `  ${short === undefined ? '    ' : `-${short}, `}--${option}${type === 'string' ? ' …' : ''}`,
      ownValue(described, option) ?? '',
    ]),
  )
  section(
    'Examples',
    examples.map((example) => [`  ${example}`]),
  )
  const codes = { ...exitCodes, [EXIT.failed]: 'failed, with the reason on standard error' }
  section(
    'Exit codes',
    Object.entries(codes).map(([code, meaning]) => [`  ${code}`, meaning]),
  )
  return EXIT.ok
}

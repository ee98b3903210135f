import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Client } from '../client/index.ts'
import { valuesFor } from '../configuration/sections.ts'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf } from './command.ts'
import { type Colour, paint, printable } from './paint.ts'

/** An object that changes. */
interface Change {
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE' | 'RELEASE'
  readonly section: string
  readonly key: string
  readonly name: string
  readonly takenOver: boolean
  readonly members: readonly { readonly name: string; readonly from: string | null; readonly to: string | null }[]
}

/** What a file would do, or did. */
export interface Plan {
  readonly planHash: string
  readonly changeCount: number
  readonly takenOver: number
  readonly changes: readonly Change[]
  readonly drift: readonly {
    readonly section: string
    readonly key: string
    readonly members: readonly string[]
    readonly by: string | null
    readonly at: string | null
  }[]
}

/** Why nothing of a file can be applied. */
export interface Refused {
  readonly code: string
  readonly message: string
  readonly issues?: readonly {
    readonly line: number | null
    readonly path: readonly string[]
    readonly message: string
  }[]
}

/** What a file is planned and applied with. */
interface FileInput {
  readonly yaml: string
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  readonly file: string
  readonly delete: boolean
}

interface Planned {
  readonly path: string
  readonly given: FileInput
  readonly plan: Plan
}

const FIELDS = `... on ConfigurationPlan {
  planHash changeCount takenOver
  changes { action section key name takenOver members { name from to } }
  drift { section key members by at }
}
... on Error { code message }
... on ValidationError { issues { line path message } }`
export const PLAN = `mutation Plan($input: PlanConfigurationInput!) { done: planConfiguration(input: $input) { ${FIELDS} } }`
export const APPLY = `mutation Apply($input: ApplyConfigurationInput!) { done: applyConfiguration(input: $input) { ${FIELDS} } }`

const DETAILS = `\${NAME} in a file is filled in from the environment. A file manages its objects under its name without directories,
or that of --name. It cannot refer to what another file creates until that is applied.`

const options = { delete: { type: 'boolean' }, name: { type: 'string' } } as const
const describe = {
  delete: 'delete what the file no longer names; otherwise it stays, unmanaged',
  name: 'the name under which one file manages its objects',
}

/** Says what configuration files would change. */
export const plan: Command = {
  usage: 'FILE…',
  summary: 'Say what configuration files would change, and change nothing',
  details: `${DETAILS}\nExit codes: 0 nothing would change, 2 something would, 1 failed.`,
  options,
  describe,
  async run(input, terminal, service) {
    const planned = await planAll(input, terminal, (await service()).client)
    if (input.json) terminal.result(asJson(planned))
    else for (const each of planned) show(each, terminal)
    return planned.some((each) => each.plan.changeCount > 0) ? EXIT.bad : EXIT.ok
  },
}

/** Applies configuration files as they were planned. */
export const apply: Command = {
  usage: 'FILE…',
  summary: 'Show what configuration files change, ask, and change exactly that',
  details: `${DETAILS}\nEach file is applied as planned or not at all: when something has changed meanwhile, it is refused.`,
  options: {
    ...options,
    yes: { type: 'boolean', short: 'y' },
    'max-deletions': { type: 'string' },
    unlocked: { type: 'boolean' },
  },
  describe: {
    ...describe,
    yes: 'do not ask',
    unlocked: 'let the console and other keys change what the file gives',
    'max-deletions': 'how many objects a file may delete; default 10',
  },
  async run(input, terminal, service) {
    const maxDeletions = maxDeletionsOf(input)
    const { client } = await service()
    const planned = await planAll(input, terminal, client)
    // The result of a script is what was done.
    const watched = input.json ? { ...terminal, hasColours: false, result: terminal.say } : terminal
    for (const each of planned) show(each, watched)
    if (planned.some(isWork) && input.options['yes'] !== true) await confirm(terminal)
    const applied: Planned[] = []
    for (const { path, given, plan: shown } of planned) {
      const { done } = await client.request<{ done: Plan | Refused }>(APPLY, {
        input: { ...given, planHash: shown.planHash, maxDeletions, lock: input.options['unlocked'] !== true },
      })
      if ('code' in done) throw refusal(path, done, applied)
      applied.push({ path, given, plan: done })
    }
    if (input.json) terminal.result(asJson(applied))
    else if (planned.some(isWork)) terminal.say('Applied.')
    return EXIT.ok
  },
}

/** Writes everything as a configuration file. */
export const exportCommand: Command = {
  usage: '> FILE',
  summary: 'Write your configuration file, without secrets, to standard output',
  async run({ json }, terminal, service) {
    const { client } = await service()
    type Answer = { readonly organization: { readonly configuration: string } }
    const { organization } = await client.request<Answer>('query Export { organization { configuration } }')
    const { configuration } = organization
    terminal.result(json ? JSON.stringify({ configuration }) : configuration.replace(/\n$/, ''))
    return EXIT.ok
  },
}

const isWork = ({ plan: { changeCount, takenOver } }: Planned) => changeCount + takenOver > 0

async function confirm(terminal: Terminal): Promise<void> {
  const answer = await terminal.ask('Apply this? [y/N] ')
  if (answer === null) throw new Failure('Nobody can be asked here, so nothing was changed. Give --yes to apply it.')
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was changed.')
}

async function planAll(input: Input, terminal: Terminal, client: Client): Promise<Planned[]> {
  const files = await Promise.all(
    pathsOf(input).map(async (path) => [path, await readGiven(path, input, terminal)] as const),
  )
  const planned: Planned[] = []
  for (const [path, given] of files) {
    const { done } = await client.request<{ done: Plan | Refused }>(PLAN, { input: given }, terminal.signal)
    if ('code' in done) throw refusal(path, done, [])
    planned.push({ path, given, plan: done })
  }
  return planned
}

/** Returns the files that were named. @throws Failure when there are none, or two would manage under one name. */
function pathsOf({ words, ...input }: Input): readonly string[] {
  if (words.length === 0) throw new Failure('Name a file, such as allclear.yaml. “allclear export” writes one.')
  if (words.length > 1 && textOf({ words, ...input }, 'name') !== undefined)
    throw new Failure('--name is for one file.')
  const names = words.map((path) => basename(path))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new Failure(`Two files are called ${twice}. Apply each alone, with --name.`)
  return words
}

async function readGiven(path: string, input: Input, { env }: Terminal): Promise<FileInput> {
  const yaml = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Failure(`${path} cannot be read: ${error.message}`)
  })
  const variables = valuesFor(yaml, env)
  return {
    ...{ yaml, variables, file: textOf(input, 'name') ?? basename(path) },
    delete: input.options['delete'] === true,
  }
}

function maxDeletionsOf(input: Input): number | undefined {
  const given = textOf(input, 'max-deletions')
  if (given === undefined) return undefined
  if (!/^\d{1,6}$/.test(given)) throw new Failure('--max-deletions is a number.')
  return Number(given)
}

/** Says what is wrong where, as compilers do, and what has been applied already. */
function refusal(path: string, { code, message, issues = [] }: Refused, applied: readonly Planned[]): Failure {
  const lines = issues.map(({ line, path: place, message: problem }) =>
    printable([line === null ? path : `${path}:${line}`, place.join('.'), problem].filter(Boolean).join(': ')),
  )
  const advice = code === 'CONFLICT' ? message.replace('maxDeletions', '--max-deletions') : message
  const before = applied.map((each) => `${each.path} was applied.`)
  const problem = lines.length > 0 ? `nothing of ${path} can be applied.\n${lines.join('\n')}` : `${path}: ${advice}`
  return new Failure([problem, ...before].join('\n'))
}

const signs: Readonly<Record<Change['action'], readonly [sign: string, colour: Colour]>> = {
  CREATE: ['+', 'green'],
  UPDATE: ['~', 'yellow'],
  DELETE: ['-', 'red'],
  RELEASE: ['.', 'grey'],
}

function show({ path, plan: { changeCount, changes, takenOver, drift } }: Planned, terminal: Terminal): void {
  const write = (colour: Colour, text: string) => terminal.result(paint(terminal, colour, printable(text)))
  for (const each of drift) write('blue', driftText(each))
  for (const change of changes) {
    write(signs[change.action][1], changeText(change))
    for (const member of change.members) terminal.result(`    ${printable(memberText(member))}`)
  }
  if (changeCount > changes.length) write('grey', `… and ${changeCount - changes.length} more`)
  if (takenOver > 0) write('grey', `${path}: ${counted(takenOver, 'object')} will be managed by it as they are.`)
  write('bold', `${path}: ${changeCount === 0 ? 'nothing changes.' : `${counted(changeCount, 'change')}.`}`)
}

function driftText({ section, key, members, by, at }: Plan['drift'][number]): string {
  const what = members.length === 0 ? 'was deleted' : `${members.join(', ')} changed`
  const who = by === null ? '' : ` by ${by}`
  return `! ${section}.${key}: ${what} other than by the file${who}${at === null ? '' : ` at ${at}`}`
}

function changeText({ action, section, key, name, takenOver }: Change): string {
  const note = takenOver ? ' (exists, and is taken over)' : ''
  return `${signs[action][0]} ${section}.${key}  ${name}${action === 'RELEASE' ? ' (stays, no longer managed)' : note}`
}

const memberText = ({ name, from, to }: Change['members'][number]) =>
  `${name}: ${from === null ? '' : `${from} → `}${to ?? 'nothing'}`

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Without what was sent, which may hold secrets. */
const asJson = (planned: readonly Planned[]) =>
  JSON.stringify(
    planned.map(({ path, plan: each }) => ({ file: path, ...each })),
    null,
    2,
  )

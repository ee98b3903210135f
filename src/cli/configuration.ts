import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Client } from '../client/index.ts'
import { valuesFor } from '../configuration/sections.ts'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf } from './command.ts'
import { type Colour, counted, jsonText, paint, printable } from './paint.ts'

/** Longer files are compressed, because requests have a size limit. */
const MAX_PLAIN = 8000

/** A change of an object. */
interface Change {
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE' | 'RELEASE'
  readonly section: string
  readonly key: string
  readonly name: string
  readonly takenOver: boolean
  readonly members: readonly { readonly name: string; readonly from: string | null; readonly to: string | null }[]
}

/** The planned or applied changes of a file. */
export interface Plan {
  readonly planHash: string
  readonly changeCount: number
  readonly takenOver: number
  /** Why it needs `--max-deletions`; null: it does not. */
  readonly deletionWarning: string | null
  readonly changes: readonly Change[]
  /** Counts all changes, including those that are not listed. */
  readonly counts: readonly {
    readonly section: string
    readonly action: Change['action']
    readonly count: number
  }[]
  readonly drift: readonly {
    readonly section: string
    readonly key: string
    readonly members: readonly string[]
    readonly by: string | null
    readonly at: string | null
  }[]
  /** Renamed keys. */
  readonly moved: readonly { readonly section: string; readonly from: string; readonly to: string }[]
}

/** Why a file cannot be applied. */
export interface Refused {
  readonly code: string
  readonly message: string
  readonly issues?: readonly {
    readonly line: number | null
    readonly path: readonly string[]
    readonly message: string
  }[]
}

/** The input to plan and apply a file. */
interface FileInput {
  readonly yaml: string
  readonly isCompressed: boolean
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
  planHash changeCount takenOver deletionWarning
  changes { action section key name takenOver members { name from to } }
  counts { section action count }
  drift { section key members by at }
  moved { section from to }
}
... on Error { code message }
... on ValidationError { issues { line path message } }`
export const PLAN = `mutation Plan($input: PlanConfigurationInput!) { done: planConfiguration(input: $input) { ${FIELDS} } }`
export const APPLY = `mutation Apply($input: ApplyConfigurationInput!) { done: applyConfiguration(input: $input) { ${FIELDS} } }`

const DETAILS = `\${NAME} in a file is replaced by the environment variable. A file manages its objects under its base name, or under
--name. It can refer to objects of another file once that file is applied.`

const options = { delete: { type: 'boolean' }, name: { type: 'string' } } as const
const describe = {
  delete: 'delete objects that the file no longer names; otherwise they stay, unmanaged',
  name: 'the name under which the file manages its objects, for one file',
}

/** Shows what configuration files would change. */
export const plan: Command = {
  usage: 'FILE…',
  summary: 'Show what configuration files would change, without changing anything',
  details: DETAILS,
  examples: ['allclear plan allclear.yaml', 'allclear plan pages.yaml monitors.yaml --json'],
  exitCodes: { 0: 'no changes', 2: 'changes to apply' },
  options,
  describe,
  async run(input, terminal, service) {
    const planned = await planAll(input, terminal, (await service()).client)
    if (input.json) terminal.result(asJson(planned))
    else for (const each of planned) show(each, terminal)
    return planned.some(({ plan: { changeCount, moved } }) => changeCount + moved.length > 0) ? EXIT.bad : EXIT.ok
  },
}

/** Applies configuration files as planned. */
export const apply: Command = {
  usage: 'FILE…',
  summary: 'Show what configuration files would change, ask for confirmation and apply them',
  details: `${DETAILS}\nEach file is applied as planned or not at all: if something changes after the plan, the file is refused.`,
  examples: ['allclear apply allclear.yaml', 'allclear apply allclear.yaml --yes --delete'],
  exitCodes: { 0: 'applied, or no changes' },
  options: {
    ...options,
    yes: { type: 'boolean', short: 'y' },
    'max-deletions': { type: 'string' },
    unlocked: { type: 'boolean' },
  },
  describe: {
    ...describe,
    yes: 'skip the confirmation',
    unlocked: 'leave the members that the file sets editable in the console and for other keys',
    'max-deletions': 'the maximum number of objects that a file may delete, instead of the usual limits',
  },
  async run(input, terminal, service) {
    const maxDeletions = maxDeletionsOf(input)
    const { client } = await service()
    const planned = await planAll(input, terminal, client)
    // With --json, standard output has only the applied changes.
    const watched = input.json ? { ...terminal, hasColours: false, result: terminal.say } : terminal
    for (const each of planned) show(each, watched)
    for (const each of planned) requireAllowed(each, maxDeletions)
    if (planned.some(isWork) && input.options['yes'] !== true) await confirm(terminal)
    const applied: Planned[] = []
    for (const { path, given, plan: shown } of planned) {
      terminal.progress(`Applying ${path}: ${counted(shown.changeCount, 'change')} …`)
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

/** Exports the organization as a configuration file. */
export const exportCommand: Command = {
  usage: '> FILE',
  summary: 'Write your configuration file, without secrets, to standard output',
  examples: ['allclear export > allclear.yaml'],
  exitCodes: { 0: 'written' },
  async run({ json }, terminal, service) {
    const { client } = await service()
    type Answer = { readonly organization: { readonly configuration: string } }
    const { organization } = await client.request<Answer>('query Export { organization { configuration } }')
    const { configuration } = organization
    if (json) terminal.result(jsonText({ configuration }))
    else terminal.document(`${configuration.replace(/\n$/, '')}\n`)
    return EXIT.ok
  },
}

const isWork = ({ plan: { changeCount, takenOver, moved } }: Planned) => changeCount + takenOver + moved.length > 0

async function confirm(terminal: Terminal): Promise<void> {
  const answer = await terminal.ask('Apply this? [y/N] ')
  if (answer === null) throw new Failure('Nothing was changed. To apply it without a terminal, add --yes.')
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was changed.')
}

async function planAll(input: Input, terminal: Terminal, client: Client): Promise<Planned[]> {
  const files = await Promise.all(
    pathsOf(input).map(async (path) => [path, await readGiven(path, input, terminal)] as const),
  )
  const planned: Planned[] = []
  for (const [path, given] of files) {
    terminal.progress(`Planning ${path} …`)
    const { done } = await client.request<{ done: Plan | Refused }>(PLAN, { input: given }, terminal.signal)
    if ('code' in done) throw refusal(path, done, [])
    planned.push({ path, given, plan: done })
  }
  return planned
}

/** Returns the files given. @throws Failure if there are none, or two have the same name. */
function pathsOf({ words, ...input }: Input): readonly string[] {
  if (words.length === 0) throw new Failure('Name a file, such as allclear.yaml. “allclear export” writes one.')
  if (words.length > 1 && textOf({ words, ...input }, 'name') !== undefined)
    throw new Failure('--name works with one file only.')
  const names = words.map((path) => basename(path))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new Failure(`Two files are called ${twice}. Apply them one by one, with --name.`)
  return words
}

async function readGiven(path: string, input: Input, { env }: Terminal): Promise<FileInput> {
  const yaml = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Failure(`Cannot read ${path}: ${error.message}`)
  })
  const variables = valuesFor(yaml, env)
  const isCompressed = yaml.length > MAX_PLAIN
  return {
    ...(isCompressed ? { yaml: gzipSync(yaml).toString('base64'), isCompressed } : { yaml, isCompressed }),
    ...{ variables, file: textOf(input, 'name') ?? basename(path) },
    delete: input.options['delete'] === true,
  }
}

function maxDeletionsOf(input: Input): number | undefined {
  const given = textOf(input, 'max-deletions')
  if (given === undefined) return undefined
  if (!/^\d{1,6}$/.test(given)) throw new Failure('--max-deletions must be a number.')
  return Number(given)
}

/** Lists the problems with file and line, as compilers do, and the files that were already applied. */
function refusal(path: string, { code, message, issues = [] }: Refused, applied: readonly Planned[]): Failure {
  const lines = issues.map(({ line, path: place, message: problem }) =>
    printable([line === null ? path : `${path}:${line}`, place.join('.'), problem].filter(Boolean).join(': ')),
  )
  const advice = code === 'CONFLICT' ? message.replace(/maxDeletions:?/, '--max-deletions') : message
  const before = applied.map((each) => `${each.path} was applied.`)
  const problem = lines.length > 0 ? `cannot apply ${path}.\n${lines.join('\n')}` : `${path}: ${advice}`
  return new Failure([problem, ...before].join('\n'))
}

/** Returns the number of objects that a plan deletes. */
const deletionsOf = ({ counts }: Plan) =>
  counts.reduce((sum, { action, count }) => sum + (action === 'DELETE' ? count : 0), 0)

/** Checks deletions before asking for confirmation. The service checks them again. @throws Failure. */
function requireAllowed({ path, plan: each }: Planned, most: number | undefined): void {
  if (each.deletionWarning === null || most !== undefined) return
  throw new Failure(`${path}: ${each.deletionWarning} To allow this, add --max-deletions ${deletionsOf(each)}.`)
}

const signs: Readonly<Record<Change['action'], readonly [sign: string, colour: Colour]>> = {
  CREATE: ['+', 'green'],
  UPDATE: ['~', 'yellow'],
  DELETE: ['-', 'red'],
  RELEASE: ['.', 'grey'],
}

function show(
  { path, plan: { changeCount, changes, takenOver, drift, moved, deletionWarning, counts } }: Planned,
  terminal: Terminal,
): void {
  const write = (colour: Colour, text: string) => terminal.result(paint(terminal, colour, printable(text)))
  for (const each of drift) write('blue', driftText(each))
  for (const { section, from, to } of moved) write('yellow', `> ${section}.${from} becomes ${section}.${to}`)
  for (const change of changes) {
    write(signs[change.action][1], changeText(change))
    for (const member of change.members) terminal.result(`    ${printable(memberText(member))}`)
  }
  for (const text of unlisted(changes, counts)) write('grey', `… and ${text}`)
  if (takenOver > 0) write('grey', `${path}: starts to manage ${counted(takenOver, 'existing object')}, unchanged.`)
  if (deletionWarning !== null) write('red', `${path}: ${deletionWarning} This needs --max-deletions.`)
  const total = changeCount + moved.length
  write('bold', `${path}: ${total === 0 ? 'no changes.' : `${counted(total, 'change')}.`}`)
}

/** Describes the changes of a plan that it does not list. */
function unlisted(changes: readonly Change[], counts: Plan['counts']): string[] {
  return counts.flatMap(({ section, action, count }) => {
    const left = count - changes.filter((each) => each.section === section && each.action === action).length
    return left > 0 ? [`${signs[action][0]} ${left} more ${section}`] : []
  })
}

function driftText({ section, key, members, by, at }: Plan['drift'][number]): string {
  const what = members.length === 0 ? 'was deleted' : `${members.join(', ')} changed`
  const who = by === null ? '' : ` by ${by}`
  return `! ${section}.${key}: ${what} outside the file${who}${at === null ? '' : ` at ${at}`}`
}

function changeText({ action, section, key, name, takenOver }: Change): string {
  const note = takenOver ? ' (exists, taken over)' : ''
  return `${signs[action][0]} ${section}.${key}  ${name}${action === 'RELEASE' ? ' (stays, no longer managed)' : note}`
}

const memberText = ({ name, from, to }: Change['members'][number]) =>
  `${name}: ${from === null ? '' : `${from} → `}${to ?? 'nothing'}`

/** Leaves out the input, which may hold secrets. */
const asJson = (planned: readonly Planned[]) =>
  jsonText(
    planned.map(({ path, plan: each }) => ({ file: path, ...each })),
    2,
  )

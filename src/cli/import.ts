import { readFile, stat } from 'node:fs/promises'
import type { Client } from '../client/index.ts'
import type { Source } from '../import/sources.ts'
import { type Note, type Translation, Unreadable } from '../import/translation.ts'
import { without } from '../import/without.ts'
import { type Command, EXIT, Failure, type Terminal, textOf } from './command.ts'
import { APPLY, type Change, PLAN, type Plan, type Refused, variablesOf } from './configuration.ts'
import { columns, printable } from './paint.ts'

/** The names of the sources. Their code is loaded when it is needed. */
const sources = ['uptime-kuma', 'gatus', 'statuspage'] as const satisfies readonly Source[]

const MAX_SOURCE_BYTES = 20_000_000
/** What a request may hold beside the configuration. */
const MAX_YAML_BYTES = 120_000
/** A plan finds 100 refusals at once. */
const MAX_ROUNDS = 30

interface Row {
  readonly outcome: 'CREATED' | 'CHANGED' | 'RELEASED' | 'DRIFTED' | 'SKIPPED' | 'PARTLY'
  readonly section: string
  readonly name: string
  readonly reason: string
}

/** Moves in from another tool: says what would come along, or makes it. */
export const importCommand: Command = {
  usage: 'FILE',
  summary: 'Move in from Uptime Kuma, Gatus or Statuspage',
  details: `Says what would come along and what would not, and changes nothing; --apply does it.
Nobody is notified. Run it again after changes there: it finds what it made.
Exit codes: 0 nothing to do, or done; 2 there are changes to apply; 1 failed.`,
  words: sources,
  options: { from: { type: 'string' }, apply: { type: 'boolean' } },
  describe: { from: sources.join(', '), apply: 'make what the dry run says' },
  async run(input, terminal, service) {
    const source = sources.find((each) => each === textOf(input, 'from'))
    if (source === undefined) throw new Failure(`Say where from: --from ${sources.join(', ')}`)
    const [file] = input.words
    if (file === undefined) throw new Failure(`Name the file: allclear import --from ${source} FILE`)
    const translation = await read(source, await readSource(file))
    const { client } = await service()
    const isApplied = input.options['apply'] === true
    const { plan, refused } = await planned(client, terminal, source, translation, isApplied)
    const rows = rowsOf(plan, translation.notes, refused)
    if (input.json)
      terminal.result(JSON.stringify({ applied: isApplied, changeCount: plan.changeCount, rows }, null, 2))
    else show(terminal, plan, rows, isApplied)
    return isApplied || plan.changeCount === 0 ? EXIT.ok : EXIT.bad
  },
}

async function readSource(file: string): Promise<string> {
  try {
    const { size } = await stat(file)
    if (size > MAX_SOURCE_BYTES) throw new Failure(`${file} has more than ${MAX_SOURCE_BYTES / 1e6} MB.`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`)
  }
}

async function read(source: Source, text: string): Promise<Translation> {
  const { translate } = await import('../import/sources.ts')
  try {
    return translate(source, text)
  } catch (error) {
    if (error instanceof Unreadable) throw new Failure(error.message)
    throw error
  }
}

/** Plans, leaves out what is refused until nothing is, and applies the plan if that is wanted. */
async function planned(
  client: Client,
  { env, signal }: Terminal,
  source: Source,
  translation: Translation,
  isApplied: boolean,
): Promise<{ readonly plan: Plan; readonly refused: readonly Note[] }> {
  const { writeTranslation } = await import('../import/sources.ts')
  let { objects } = translation
  const refused: Note[] = []
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const yaml = writeTranslation({ ...translation, objects })
    const sent = Buffer.byteLength(JSON.stringify(yaml))
    if (sent > MAX_YAML_BYTES) {
      throw new Failure(
        `This makes a configuration of ${Math.ceil(sent / 1000)} kB, and a request takes ${MAX_YAML_BYTES / 1000}.`,
      )
    }
    const variables = translation.hasVariables ? variablesOf(yaml, env) : []
    const input = { yaml, variables, file: `import from ${source}` }
    const { done: plan } = await client.request<{ readonly done: Plan | Refused }>(PLAN, { input }, signal)
    if (!('issues' in plan)) {
      const { planHash } = orFail(plan)
      if (!isApplied) return { plan: orFail(plan), refused }
      const applied = await client.request<{ readonly done: Plan | Refused }>(
        APPLY,
        { input: { ...input, planHash } },
        signal,
      )
      return { plan: orFail(applied.done), refused }
    }
    const rest = without(objects, plan.issues ?? [])
    if (rest === null)
      throw new Failure((plan.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'))
    objects = rest.objects
    refused.push(...rest.notes)
  }
  throw new Failure('Too much of this is refused.')
}

function orFail(plan: Plan | Refused): Plan {
  if ('planHash' in plan) return plan
  throw new Failure(plan.message)
}

function rowsOf(plan: Plan, notes: readonly Note[], refused: readonly Note[]): Row[] {
  const outcomes = { CREATE: 'CREATED', UPDATE: 'CHANGED', DELETE: 'RELEASED', RELEASE: 'RELEASED' } as const
  const reasons = {
    CREATE: () => '',
    UPDATE: namesOf,
    DELETE: () => '',
    RELEASE: () => 'The source no longer has it. It stays.',
  }
  return [
    ...plan.changes.map((change) => ({
      outcome: outcomes[change.action],
      section: change.section,
      name: change.name,
      reason: reasons[change.action](change),
    })),
    ...plan.drift.map(({ section, key, by }) => ({
      outcome: 'DRIFTED' as const,
      section,
      name: key,
      reason: `It was edited here${by === null ? '' : ` by ${by}`} since the last import, which sets it back.`,
    })),
    ...refused,
    ...notes,
  ]
}

const namesOf = ({ members }: Change) => members.map(({ name }) => name).join(', ')

function show(terminal: Terminal, { changes, changeCount }: Plan, rows: readonly Row[], isApplied: boolean): void {
  const cells = rows.map(({ outcome, section, name, reason }) => [
    outcome.toLowerCase(),
    section.slice(0, -1),
    name,
    reason,
  ])
  for (const row of columns(cells)) terminal.result(row)
  if (changeCount > changes.length) terminal.say(`… and ${changeCount - changes.length} more changes.`)
  if (changes.some(({ action, section }) => action === 'CREATE' && section === 'services')) {
    terminal.say('Pages that show all services show the new ones too.')
  }
  if (isApplied) terminal.say(printable(`Done: ${changeCount} changes.`))
  else
    terminal.say(
      changeCount === 0 ? 'Nothing to do.' : `Nothing was changed. To make these ${changeCount} changes, add --apply.`,
    )
}

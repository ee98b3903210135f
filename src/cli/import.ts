import { open, readFile, stat } from 'node:fs/promises'
import type { Client } from '../client/index.ts'
import { valuesFor } from '../configuration/sections.ts'
import { withPrivateCopy } from '../import/private-copy.ts'
import { planWithoutRefused, Unplannable } from '../import/rounds.ts'
import { type Row, rowsOf } from '../import/rows.ts'
import { isDatabase, isSource, type Source, sources } from '../import/source-names.ts'
import { type Note, type Translation, Unreadable } from '../import/translation.ts'
import { type Command, EXIT, Failure, type Terminal, textOf } from './command.ts'
import { APPLY, PLAN, type Plan, type Refused } from './configuration.ts'
import { columns, printable } from './paint.ts'

const MAX_SOURCE_BYTES = 20_000_000
/** What a request may hold beside the configuration. */
const MAX_YAML_BYTES = 120_000
/** Moves in from another tool: says what would come along, or makes it. */
export const importCommand: Command = {
  usage: 'FILE',
  summary: 'Move in from Uptime Kuma, Statuspage, Gatus and others',
  details: `Says what would come along and what would not, and changes nothing; --apply does it.
Nobody is notified. Run it again after changes there: it finds what it made.
Exit codes: 0 nothing to do, or done; 2 there are changes to apply; 1 failed.`,
  words: sources,
  options: { from: { type: 'string' }, apply: { type: 'boolean' } },
  describe: { from: sources.join(', '), apply: 'make what the dry run says' },
  async run(input, terminal, service) {
    const source = textOf(input, 'from') ?? ''
    if (!isSource(source)) throw new Failure(`Say where from: --from ${sources.join(', ')}`)
    const [file] = input.words
    if (file === undefined) throw new Failure(`Name the file: allclear import --from ${source} FILE`)
    const translation = await read(source, file)
    const { client } = await service()
    const isApplied = input.options['apply'] === true
    const { plan, refused } = await planned(client, terminal, source, translation, isApplied)
    const rows = rowsOf(plan, [...refused, ...translation.notes])
    if (input.json)
      terminal.result(JSON.stringify({ applied: isApplied, changeCount: plan.changeCount, rows }, null, 2))
    else show(terminal, plan, rows, isApplied)
    return isApplied || plan.changeCount === 0 ? EXIT.ok : EXIT.bad
  },
}

/** Translates a file: a database from a copy of any size, another from memory. */
async function read(source: Source, file: string): Promise<Translation> {
  try {
    const { translate, translateDatabase } = await import('../import/sources.ts')
    if (isDatabase(source, await headOf(file))) return await withPrivateCopy(file, translateDatabase)
    const { size } = await stat(file)
    if (size > MAX_SOURCE_BYTES) throw new Failure(`${file} has more than ${MAX_SOURCE_BYTES / 1e6} MB.`)
    return translate(source, await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Failure) throw error
    if (error instanceof Unreadable) throw new Failure(error.message)
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`)
  }
}

async function headOf(file: string): Promise<Uint8Array> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16)
  return buffer.subarray(0, bytesRead)
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
  const { planned: done, refused } = await planWithoutRefused<{ readonly input: object; readonly plan: Plan }>(
    translation.objects,
    async (objects) => {
      const yaml = writeTranslation({ ...translation, objects })
      const sent = Buffer.byteLength(JSON.stringify(yaml))
      if (sent > MAX_YAML_BYTES) {
        throw new Failure(
          `This makes a configuration of ${Math.ceil(sent / 1000)} kB, and a request takes ${MAX_YAML_BYTES / 1000}.`,
        )
      }
      const variables = translation.hasVariables ? valuesFor(yaml, env) : []
      const input = { yaml, variables, file: `import from ${source}` }
      const { done: plan } = await client.request<{ readonly done: Plan | Refused }>(PLAN, { input }, signal)
      return 'issues' in plan ? { refusals: plan.issues ?? [] } : { planned: { input, plan: orFail(plan) } }
    },
  ).catch((error: unknown) => {
    throw error instanceof Unplannable ? new Failure(error.message) : error
  })
  if (!isApplied) return { plan: done.plan, refused }
  const input = { ...done.input, planHash: done.plan.planHash }
  const applied = await client.request<{ readonly done: Plan | Refused }>(APPLY, { input }, signal)
  return { plan: orFail(applied.done), refused }
}

function orFail(plan: Plan | Refused): Plan {
  if ('planHash' in plan) return plan
  throw new Failure(plan.message)
}

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

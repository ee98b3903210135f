import { open, readFile, stat } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Client } from '../client/index.ts'
import { valuesFor } from '../configuration/sections.ts'
import { Invalid } from '../core/errors.ts'
import { withPrivateCopy } from '../import/private-copy.ts'
import { type RecordsPart, recordsOf, sendRecords } from '../import/record-parts.ts'
import type { RecordResult } from '../import/records.ts'
import { planWithoutRefused, Unplannable } from '../import/rounds.ts'
import { changesAmong, type Row, rowsOf } from '../import/rows.ts'
import { isDatabase, isSource, type Source, sourceNames, sources } from '../import/source-names.ts'
import { type Note, type Objects, type Translation, Unreadable } from '../import/translation.ts'
import { type Command, EXIT, Failure, type Terminal, textOf } from './command.ts'
import { APPLY, PLAN, type Plan, type Refused } from './configuration.ts'
import { columns, printable } from './paint.ts'
import { sendFromHere } from './send-from-here.ts'

const MAX_SOURCE_BYTES = 20_000_000
/** What a request may hold beside the configuration. */
const MAX_SENT_BYTES = 120_000
/** Moves in from another tool: says what would come along, or makes it. */
export const importCommand: Command = {
  usage: 'FILE | --fetch [ADDRESS]',
  summary: 'Move in from Uptime Kuma, Statuspage, Gatus and others',
  details: `Says what would come along and what would not, and changes nothing; --apply does it.
--fetch asks the source itself, from this machine: Statuspage and Cachet by the address of the page, Instatus by its id and a key,
UptimeRobot, Better Stack and HetrixTools by a key. The key is asked for, or read from standard input, used once and not stored.
Nobody is notified. Run it again after changes there: it finds what it made.
Exit codes: 0 nothing to do, or done; 2 there are changes to apply; 1 failed.`,
  words: sources,
  options: { from: { type: 'string' }, fetch: { type: 'boolean' }, apply: { type: 'boolean' } },
  describe: { from: sources.join(', '), fetch: 'ask the source itself', apply: 'make what the dry run says' },
  async run(input, terminal, service) {
    const source = textOf(input, 'from') ?? ''
    if (!isSource(source)) throw new Failure(`Say where from: --from ${sources.join(', ')}`)
    const [word] = input.words
    const translation =
      input.options['fetch'] === true ? await fetched(source, word, terminal) : await readNamed(source, word)
    const { client } = await service()
    const isApplied = input.options['apply'] === true
    const { plan, refused, objects } = await planned(client, terminal, source, translation, isApplied)
    const of = { source, dryRun: !isApplied }
    const send = (part: RecordsPart) => importPart(client, terminal, part)
    const records = await sendRecords(recordsOf(translation.records, objects), of, send)
    const rows = rowsOf(plan, { records, notes: [...refused, ...translation.notes] })
    const changeCount = plan.changeCount + changesAmong(records)
    if (input.json) terminal.result(JSON.stringify({ applied: isApplied, changeCount, rows }, null, 2))
    else show(terminal, { plan, changeCount, rows, isApplied })
    return isApplied || changeCount === 0 ? EXIT.ok : EXIT.bad
  },
}

function readNamed(source: Source, file: string | undefined): Promise<Translation> {
  if (file === undefined) throw new Failure(`Name the file: allclear import --from ${source} FILE`)
  return read(source, file)
}

/** Translates what a source answers to this machine. */
async function fetched(source: Source, address: string | undefined, terminal: Terminal): Promise<Translation> {
  const { askedOf, fetchSource } = await import('../import/fetch.ts')
  const { translate } = await import('../import/sources.ts')
  const wanted = askedOf(source)
  if (wanted === null) throw new Failure(`${sourceNames[source]} cannot be fetched. Name its file.`)
  if (wanted.address && address === undefined)
    throw new Failure(`Name the page: allclear import --from ${source} --fetch ADDRESS`)
  const key = wanted.key ? (await terminal.ask(`Key of ${sourceNames[source]}: `, true))?.trim() : ''
  if (key === undefined || (wanted.key && key === '')) throw new Failure('Give the key.')
  try {
    return translate(
      source,
      Buffer.from(await fetchSource(sendFromHere, source, { address: address ?? '', key })).toString(),
    )
  } catch (error) {
    if (error instanceof Invalid)
      throw new Failure(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'))
    throw error instanceof Unreadable ? new Failure(error.message) : error
  }
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
): Promise<{ readonly plan: Plan; readonly refused: readonly Note[]; readonly objects: Objects }> {
  const { writeTranslation } = await import('../import/sources.ts')
  const { planned: done, refused } = await planWithoutRefused<Attempted>(translation.objects, async (objects) => {
    const yaml = writeTranslation({ ...translation, objects })
    const sent = gzipSync(yaml).toString('base64')
    if (sent.length > MAX_SENT_BYTES) {
      const kilobytes = Math.ceil(sent.length / 1000)
      throw new Failure(
        `This makes a configuration of ${kilobytes} kB, compressed, and a request takes ${MAX_SENT_BYTES / 1000}.`,
      )
    }
    const variables = translation.hasVariables ? valuesFor(yaml, env) : []
    const input = { yaml: sent, isCompressed: true, variables, file: `import from ${source}` }
    const { done: plan } = await client.request<{ readonly done: Plan | Refused }>(PLAN, { input }, signal)
    return 'issues' in plan ? { refusals: plan.issues ?? [] } : { planned: { input, objects, plan: orFail(plan) } }
  }).catch((error: unknown) => {
    throw error instanceof Unplannable ? new Failure(error.message) : error
  })
  const { objects } = done
  if (!isApplied) return { plan: done.plan, refused, objects }
  // An import begins a life in the console.
  const input = { ...done.input, planHash: done.plan.planHash, lock: false }
  const applied = await client.request<{ readonly done: Plan | Refused }>(APPLY, { input }, signal)
  return { plan: orFail(applied.done), refused, objects }
}

/** A plan, with what was planned. */
interface Attempted {
  readonly input: object
  readonly objects: Objects
  readonly plan: Plan
}

const IMPORT_RECORDS = `mutation ImportRecords($input: ImportRecordsInput!) { done: importRecords(input: $input) {
  ... on ImportRecordsPayload { records { section key name outcome reason } }
  ... on Error { message }
} }`

/** Imports a part of what happened at a source. */
async function importPart(client: Client, { signal }: Terminal, input: RecordsPart): Promise<RecordResult[]> {
  const { done } = await client.request<{
    readonly done: { readonly records: RecordResult[] } | { readonly message: string }
  }>(IMPORT_RECORDS, { input }, signal)
  if ('records' in done) return done.records
  throw new Failure(done.message)
}

function orFail(plan: Plan | Refused): Plan {
  if ('planHash' in plan) return plan
  throw new Failure(plan.message)
}

/** What the table is about. */
interface Shown {
  readonly plan: Plan
  /** With what is not in the plan. */
  readonly changeCount: number
  readonly rows: readonly Row[]
  readonly isApplied: boolean
}

function show(terminal: Terminal, { plan: { changes, ...plan }, changeCount, rows, isApplied }: Shown): void {
  const cells = rows.map(({ outcome, section, name, reason }) => [
    outcome.toLowerCase(),
    section.replace(/s$/, ''),
    name,
    reason,
  ])
  for (const row of columns(cells)) terminal.result(row)
  if (plan.changeCount > changes.length) terminal.say(`… and ${plan.changeCount - changes.length} more changes.`)
  if (changes.some(({ action, section }) => action === 'CREATE' && section === 'services')) {
    terminal.say('Pages that show all services show the new ones too.')
  }
  if (isApplied) terminal.say(printable(`Done: ${changeCount} changes.`))
  else
    terminal.say(
      changeCount === 0 ? 'Nothing to do.' : `Nothing was changed. To make these ${changeCount} changes, add --apply.`,
    )
}

import { open, readFile, stat } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Client } from '../client/index.ts'
import { valuesFor } from '../configuration/sections.ts'
import { Invalid } from '../core/errors.ts'
import { MINUTE } from '../core/time.ts'
import { askForName, fileOf, type Installation, looksLikeAnother, NAME_RULE, readName } from '../import/installation.ts'
import { planWithoutRefused, Unplannable } from '../import/plan-without-refused.ts'
import { withPrivateCopy } from '../import/private-copy.ts'
import { type RecordsPart, recordsOf, sendRecords } from '../import/record-parts.ts'
import type { RecordResult } from '../import/records.ts'
import { changesAmong, type Row, rowsOf } from '../import/rows.ts'
import { isDatabase, isSource, type Source, sourceNames, sources } from '../import/source-names.ts'
import { type Note, type Objects, type Translation, Unreadable } from '../import/translation.ts'
import type { Send } from '../network/outbound/send.ts'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf } from './command.ts'
import { APPLY, PLAN, type Plan, type Refused } from './configuration.ts'
import { columns, counted, jsonText, printable } from './paint.ts'
import { sendFromHere } from './send-from-here.ts'

/** The size limit of files, except database dumps. */
const MAX_SOURCE_BYTES = 20_000_000
const MAX_DUMP_BYTES = 400_000_000
/** Generous, because a command line serves one person. */
const FETCH_LIMITS = { requests: 3000, deadlineMs: 30 * MINUTE }
/** The size limit of the configuration in a request, compressed and in base64. */
const MAX_SENT_BYTES = 120_000

/** Imports from another tool, or lists what would be imported. */
export const importCommand: Command = {
  usage: 'FILE | DIRECTORY | --fetch [ADDRESS]',
  summary: 'Import from Uptime Kuma, Statuspage, Gatus and others',
  details: `Lists what would be imported and what would not, without changing anything. --apply imports it.
--fetch reads from the source’s API, from this machine. Statuspage and Cachet require the address of the page, Instatus its id and
a key, other sources a key. The key is read from the terminal or standard input, and is not stored. With a key (--with-key),
Statuspage and Cachet also provide complete histories and subscribers.
Gatus may have a directory of configuration files: give the directory.
Sends no notifications. Run the import again after changes: it updates the objects that it imported before.`,
  examples: [
    'allclear import --from uptime-kuma kuma.db',
    'allclear import --from uptime-kuma kuma.db --apply',
    'allclear import --from statuspage --fetch https://status.example.com',
  ],
  exitCodes: { 0: 'imported, or no changes', 2: 'changes to apply' },
  values: { from: sources },
  options: {
    from: { type: 'string' },
    fetch: { type: 'boolean' },
    'with-key': { type: 'boolean' },
    name: { type: 'string' },
    apply: { type: 'boolean' },
  },
  describe: {
    from: sources.join(', '),
    fetch: 'read from the source’s API instead of a file',
    'with-key': 'ask for a key even if the source does not need one',
    name: 'the name of the installation, if you import several of one tool',
    apply: 'import the listed changes',
  },
  async run(input, terminal, service) {
    const installation = installationIn(input)
    const [word] = input.words
    terminal.progress(`Reading ${sourceNames[installation.source]} …`)
    const hasKey = input.options['with-key'] === true
    const translation =
      input.options['fetch'] === true
        ? await fetched(installation, { address: word, hasKey }, terminal)
        : await readNamed(installation, word)
    const { client } = await service()
    const isApplied = input.options['apply'] === true
    const isNamed = textOf(input, 'name') !== undefined
    const { plan, refused, objects } = await planned(client, terminal, {
      installation,
      isNamed,
      translation,
      isApplied,
    })
    const of = { installation, dryRun: !isApplied }
    const named = recordsOf(translation.records, objects)
    const total = Object.values(named).reduce((sum, list) => sum + list.length, 0)
    let done = 0
    const send = async (part: RecordsPart) => {
      terminal.progress(
        `${isApplied ? 'Importing' : 'Comparing'} history, incidents and subscribers: ${done} of ${total} …`,
      )
      const results = await importPart(client, terminal, part)
      done += results.length
      return results
    }
    const records = await sendRecords(named, of, send)
    const rows = rowsOf(plan, { records, notes: [...refused, ...translation.notes] })
    const changeCount = plan.changeCount + changesAmong(records)
    if (input.json) terminal.result(jsonText({ applied: isApplied, changeCount, rows }, 2))
    else show(terminal, { plan, changeCount, rows, isApplied })
    return isApplied || changeCount === 0 ? EXIT.ok : EXIT.bad
  },
}

function installationIn(input: Input): Installation {
  const source = textOf(input, 'from') ?? ''
  if (!isSource(source)) throw new Failure(`Give a source: --from ${sources.join(', ')}`)
  const name = readName(textOf(input, 'name') ?? '')
  if (name === null) throw new Failure(`--name ${NAME_RULE}.`)
  return { source, name }
}

function readNamed(installation: Installation, file: string | undefined): Promise<Translation> {
  if (file === undefined) throw new Failure(`Give a file: allclear import --from ${installation.source} FILE`)
  return read(installation, file)
}

/** Fetches from the source, from this machine. */
async function fetched(
  installation: Installation,
  { address, hasKey }: { readonly address: string | undefined; readonly hasKey: boolean },
  terminal: Terminal,
): Promise<Translation> {
  const { source } = installation
  const { fetchInputOf, fetchSource } = await import('../import/fetch.ts')
  const { translate } = await import('../import/sources.ts')
  const wanted = fetchInputOf(source)
  if (wanted === null) throw new Failure(`Allclear cannot fetch from ${sourceNames[source]}. Give its file.`)
  if (wanted.address && address === undefined)
    throw new Failure(`Give the address of the page: allclear import --from ${source} --fetch ADDRESS`)
  const key = wanted.key === 'REQUIRED' || hasKey ? await askKey(source, terminal) : ''
  try {
    const given = { address: address ?? '', key }
    let requests = 0
    const send: Send = (...request) => {
      requests += 1
      terminal.progress(`Reading ${sourceNames[source]}: ${counted(requests, 'request')} …`)
      return sendFromHere(...request)
    }
    const file = await fetchSource(send, source, given, { ...FETCH_LIMITS, now: terminal.now })
    return translate(installation, Buffer.from(file).toString())
  } catch (error) {
    if (error instanceof Invalid)
      throw new Failure(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'))
    throw error instanceof Unreadable ? new Failure(error.message) : error
  }
}

async function askKey(source: Source, terminal: Terminal): Promise<string> {
  const key = (await terminal.ask(`Key of ${sourceNames[source]}: `, true))?.trim() ?? ''
  if (key === '') throw new Failure('A key is required.')
  return key
}

/** Translates a file. Opens a private copy of a database of any size; reads other files into memory. */
async function read(installation: Installation, file: string): Promise<Translation> {
  try {
    const { translate, translateDatabase } = await import('../import/sources.ts')
    const found = await stat(file)
    if (found.isDirectory()) return await readDirectory(installation, file)
    if (isDatabase(installation.source, await headOf(file)))
      return await withPrivateCopy(file, (path) => translateDatabase(installation, path))
    const most = installation.source === 'cachet' ? MAX_DUMP_BYTES : MAX_SOURCE_BYTES
    if (found.size > most) throw new Failure(`${file} is larger than ${most / 1e6} MB.`)
    return translate(installation, await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Failure) throw error
    if (error instanceof Unreadable) throw new Failure(error.message)
    throw new Failure(`Cannot read ${file}: ${(error as Error).message}`)
  }
}

/** Translates a configuration directory. */
async function readDirectory(installation: Installation, directory: string): Promise<Translation> {
  const { source } = installation
  if (source !== 'gatus') throw new Failure(`${directory} is a directory. Give a file of ${sourceNames[source]}.`)
  const { readGatusDirectory } = await import('../import/gatus-directory.ts')
  const { translate } = await import('../import/sources.ts')
  return translate(installation, await readGatusDirectory(directory))
}

async function headOf(file: string): Promise<Uint8Array> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16)
  return buffer.subarray(0, bytesRead)
}

/** The import to plan. */
interface Planning {
  readonly installation: Installation
  /** Whether the installation was named explicitly. */
  readonly isNamed: boolean
  readonly translation: Translation
  readonly isApplied: boolean
}

/** Plans repeatedly without refused objects until the plan succeeds, and applies it if asked to. */
async function planned(
  client: Client,
  { env, signal, progress }: Terminal,
  { installation, isNamed, translation, isApplied }: Planning,
): Promise<{ readonly plan: Plan; readonly refused: readonly Note[]; readonly objects: Objects }> {
  const { writeTranslation } = await import('../import/sources.ts')
  const { planned: done, refused } = await planWithoutRefused<Attempted>(translation.objects, async (objects) => {
    progress('Planning …')
    const yaml = writeTranslation({ ...translation, objects })
    const sent = gzipSync(yaml).toString('base64')
    if (sent.length > MAX_SENT_BYTES) {
      const kilobytes = Math.ceil(sent.length / 1000)
      throw new Failure(
        `The configuration has ${kilobytes} kB compressed, but a request is limited to ${MAX_SENT_BYTES / 1000} kB.`,
      )
    }
    const variables = translation.hasVariables ? valuesFor(yaml, env) : []
    const file = { yaml: sent, isCompressed: true, variables, file: fileOf(installation) }
    const input = { ...file, keepAbsent: true, allowLiteralSecrets: true }
    const { done: plan } = await client.request<{ readonly done: Plan | Refused }>(PLAN, { input }, signal)
    return 'issues' in plan ? { refusals: plan.issues ?? [] } : { planned: { input, objects, plan: orFail(plan) } }
  }).catch((error: unknown) => {
    throw error instanceof Unplannable ? new Failure(error.message) : error
  })
  const { objects } = done
  if (!isNamed && looksLikeAnother({ services: objects.services.size, changes: done.plan.changes }))
    throw new Failure(askForName(installation.source, 'with --name'))
  if (!isApplied) return { plan: done.plan, refused, objects }
  // Unlocked, because people edit imported objects in the console.
  const { pausedMonitors } = translation
  const input = { ...done.input, planHash: done.plan.planHash, lock: false, pausedMonitors }
  progress(`Importing ${counted(done.plan.changeCount, 'object')} …`)
  const applied = await client.request<{ readonly done: Plan | Refused }>(APPLY, { input }, signal)
  return { plan: orFail(applied.done), refused, objects }
}

/** A plan and its input. */
interface Attempted {
  readonly input: object
  readonly objects: Objects
  readonly plan: Plan
}

const IMPORT_RECORDS = `mutation ImportRecords($input: ImportRecordsInput!) { done: importRecords(input: $input) {
  ... on ImportRecordsPayload { records { section key name outcome reason } }
  ... on Error { message }
} }`

/** Imports a part of the records. */
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

/** The content of the table. */
interface Shown {
  readonly plan: Plan
  /** Includes changes that are not in the plan. */
  readonly changeCount: number
  readonly rows: readonly Row[]
  readonly isApplied: boolean
}

function show(terminal: Terminal, { plan: { counts }, changeCount, rows, isApplied }: Shown): void {
  const cells = rows.map(({ outcome, section, name, reason }) => [
    outcome.toLowerCase(),
    section.replace(/s$/, ''),
    name,
    reason,
  ])
  for (const row of columns(cells)) terminal.result(row)
  if (counts.some(({ action, section }) => action === 'CREATE' && section === 'services')) {
    terminal.say('Pages that show all services will show the new ones too.')
  }
  if (isApplied) terminal.say(printable(`Done: ${changeCount} changes.`))
  else
    terminal.say(
      changeCount === 0 ? 'Nothing to do.' : `Nothing was changed. To apply these ${changeCount} changes, add --apply.`,
    )
}

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Context, Database } from '../core/context.ts'
import { Invalid } from '../core/errors.ts'
import type { StoredHtml } from '../core/markdown/markdown-rendering.ts'
import { renderMessage } from '../core/markdown/markdown-rendering.ts'
import { invalid, validate } from '../core/validation.ts'
import { columnOf, inColumns } from '../database/columns.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { ImportedRecordKind } from '../generated/prisma/enums.ts'
import type { LimitedRows } from './stored-limits.ts'
import { fullMessage, roomFor } from './stored-limits.ts'

/** The source of imported records. */
export interface ImportSource {
  /** The name of the tool, as shown. */
  readonly source: string
  /** Distinguishes installations of the tool. With their id there, it identifies records. */
  readonly installation: string
  /** Whether to return the outcomes without changing anything. */
  readonly dryRun: boolean
}

/** The outcome of importing one record. */
export interface ImportOutcome {
  readonly outcome: 'CREATED' | 'CHANGED' | 'UNCHANGED' | 'SKIPPED'
  /** Why it is skipped; empty otherwise. */
  readonly reason: string
}

/** Creates the outcome of a record that isn't imported. */
export const skipped = (reason: string): ImportOutcome => ({ outcome: 'SKIPPED', reason })

/** A record that was imported before. */
export interface KnownRecord {
  readonly recordId: string
  readonly objectId: string
  readonly digest: string
  /** The version of the object when it was imported. */
  readonly version: number
  /** Its current version; null if it was deleted. */
  readonly current: number | null
}

const tables = {
  INCIDENT: Prisma.raw('"Incident"'),
  MAINTENANCE: Prisma.raw('"Maintenance"'),
  SERIES: Prisma.raw('"MaintenanceSeries"'),
} as const satisfies Record<ImportedRecordKind, Prisma.Sql>

/** Reads previously imported records of an installation, by their ids there. */
async function readKnownRecords(
  db: Database,
  organizationId: string,
  {
    installation,
    kind,
    ids,
  }: { readonly installation: string; readonly kind: ImportedRecordKind; readonly ids: readonly string[] },
): Promise<Map<string, KnownRecord>> {
  const rows = await db.$queryRaw<KnownRecord[]>`
    SELECT record."recordId", record."objectId", record.digest, record.version, object.version AS current
    FROM "ImportedRecord" AS record
    LEFT JOIN ${tables[kind]} AS object ON object.id = record."objectId" AND object."organizationId" = ${organizationId}
    WHERE record."organizationId" = ${organizationId} AND record.source = ${installation}
      AND record.kind = ${kind}::"ImportedRecordKind" AND record."recordId" = ANY (${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.recordId, row]))
}

/** A record to remember. */
export interface NewRecord {
  readonly recordId: string
  readonly objectId: string
  readonly digest: string
  readonly version: number
}

/** Remembers records, so that the next import recognizes them. Call it in the transaction that writes them. */
async function saveRecords(
  { db, now }: Pick<Context, 'now'> & { readonly db: Pick<Database, '$queryRaw'> },
  organizationId: string,
  {
    installation,
    kind,
    records,
  }: { readonly installation: string; readonly kind: ImportedRecordKind; readonly records: readonly NewRecord[] },
): Promise<void> {
  if (records.length === 0) return
  const importedAt = now()
  const rows = records.map((record) => ({ ...record, organizationId, source: installation, kind, importedAt }))
  await db.$queryRaw`
    INSERT INTO "ImportedRecord" ("organizationId", source, kind, "recordId", "objectId", digest, version, "importedAt")
    SELECT "organizationId", source, kind, "recordId", "objectId", digest, version, "importedAt"
    FROM jsonb_populate_recordset(NULL::"ImportedRecord", ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT ("organizationId", source, kind, "recordId") DO UPDATE SET "objectId" = EXCLUDED."objectId",
      digest = EXCLUDED.digest, version = EXCLUDED.version, "importedAt" = EXCLUDED."importedAt"`
}

/** Returns a digest of a record's content. */
export const digestOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64url')

/**
 * Returns what an import does with a record. It does not touch what people have edited or deleted here, and reports
 * that once, because it saves the digest then, too.
 */
function importOutcomeOf(known: KnownRecord | undefined, digest: string): ImportOutcome {
  if (known === undefined) return { outcome: 'CREATED', reason: '' }
  if (known.digest === digest) return { outcome: 'UNCHANGED', reason: '' }
  if (known.current === null) return skipped('It was deleted here. It has changed there since.')
  if (known.current !== known.version)
    return skipped('It was changed here since it was imported, and has changed there.')
  return { outcome: 'CHANGED', reason: '' }
}

/** The limited rows that a new record of each kind may add to. */
const growing = {
  INCIDENT: ['ImportedRecord', 'Incident'],
  MAINTENANCE: ['ImportedRecord', 'Maintenance', 'PlannedMaintenance'],
  SERIES: ['ImportedRecord'],
} as const satisfies Record<ImportedRecordKind, readonly LimitedRows[]>

interface Room {
  readonly of: LimitedRows
  readonly left: number
}

const roomsFor = (db: Database, organizationId: string, kind: ImportedRecordKind): Promise<Room[]> =>
  Promise.all(growing[kind].map(async (of) => ({ of, left: await roomFor({ db }, of, organizationId) })))

/**
 * Returns a function that takes a place for a new record, or skips the record if none is left. Records that were
 * imported before need none, so that an import can always be repeated.
 */
function placesIn(rooms: readonly Room[]): (created: ImportOutcome) => ImportOutcome {
  let taken = 0
  return (created) => {
    const full = rooms.find(({ left }) => left <= taken)
    if (full) return skipped(fullMessage(full.of))
    taken += 1
    return created
  }
}

/** Returns whether an import writes a record. */
const isWritten = (result: ImportOutcome | undefined): boolean =>
  result?.outcome === 'CREATED' || result?.outcome === 'CHANGED'

/** A time in a record: no source has older ones, and the database does not store every year. */
export const importedTime = z.coerce
  .date('must be a time such as 2026-11-20T12:00:00Z')
  .refine((at) => at.getUTCFullYear() >= 1990 && at.getUTCFullYear() < 2100, 'must be in a year from 1990 to 2099')

/** Reads one record, or returns why it can't be imported. */
export function readRecord<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> | ImportOutcome {
  try {
    return validate(schema, given)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const [issue] = error.issues
    return skipped(`${issue?.path.join('.') ?? ''} ${issue?.message ?? error.message}.`.trim())
  }
}

/** @throws Invalid when there are more items than an import accepts. */
export function requireBounds(
  counts: readonly (readonly [path: string, what: string, count: number, limit: number])[],
) {
  const issues = counts.flatMap(([path, what, count, limit]) =>
    count > limit ? [{ path: [path], message: `must have at most ${limit} ${what} at once, has ${count}` }] : [],
  )
  if (issues.length > 0) throw invalid(issues)
}

/** Deletes the parts of objects. Call it in a change of their organization. */
export async function removeParts(
  { db }: Context,
  column: 'incidentId' | 'maintenanceId',
  tables: readonly string[],
  ids: readonly string[],
): Promise<void> {
  for (const table of tables)
    await db.$executeRaw`DELETE FROM ${Prisma.raw(`"${table}"`)} WHERE ${Prisma.raw(`"${column}"`)} = ANY (${[...ids]}::text[])`
}

/** Inserts rows with one statement, or replaces those with the same id. @param rows all with the same fields. */
export async function writeRows(
  { db }: Context,
  table: 'Incident' | 'Maintenance',
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const name = Prisma.raw(`"${table}"`)
  const columns = Object.keys(first).map((field) => `"${columnOf(table, field)}"`)
  const changed = columns.filter((column) => column !== '"id"')
  const list = Prisma.raw(columns.join(', '))
  await db.$executeRaw`
    INSERT INTO ${name} (${list}) SELECT ${list} FROM jsonb_populate_recordset(NULL::${name}, ${JSON.stringify(inColumns(table, rows))}::jsonb)
    ON CONFLICT (id) DO UPDATE SET ${Prisma.raw(changed.map((column) => `${column} = EXCLUDED.${column}`).join(', '))}
    WHERE ${name}."organizationId" = EXCLUDED."organizationId"`
}

/** Returns the times in ascending order, each at least a millisecond after the previous one. */
export function distinctTimes(times: readonly Date[]): Date[] {
  let last = Number.NEGATIVE_INFINITY
  return times.map((at) => {
    last = Math.max(at.getTime(), last + 1)
    return new Date(last)
  })
}

/** The HTML of messages, by message. */
export type RenderedTexts = ReadonlyMap<string, StoredHtml>

/** Renders messages before the transaction that stores them. */
async function renderTexts(ctx: Context, organizationId: string, messages: Iterable<string>): Promise<RenderedTexts> {
  const rendered = new Map<string, StoredHtml>()
  for (const message of messages) {
    await yieldAfterTimeSlice(organizationId)
    if (!rendered.has(message)) rendered.set(message, await renderMessage(ctx, organizationId, message))
  }
  return rendered
}

/** Returns the HTML of a message; null if it is rendered later. */
export const htmlIn = (rendered: RenderedTexts, message: string): StoredHtml =>
  rendered.get(message) ?? { html: null, htmlVersion: 0 }

/** A record to import, with its identity and digest. */
export interface ReadRecord {
  readonly id: string
  readonly digest: string
}

/** How to import records of a kind. */
export interface Importing<R extends ReadRecord> {
  readonly kind: ImportedRecordKind
  /** The records, or why they can't be imported. */
  readonly read: readonly (R | ImportOutcome)[]
  /** The messages of a record. */
  textsOf(record: R): readonly string[]
  /** Writes records within a change, given the known ones. Returns what to remember. */
  write(
    tx: Context,
    records: readonly (R & { readonly known: KnownRecord | undefined })[],
    rendered: RenderedTexts,
  ): Promise<readonly NewRecord[]>
}

const nouns = {
  INCIDENT: ['incident', 'incidents'],
  MAINTENANCE: ['maintenance', 'maintenances'],
  SERIES: ['repeating maintenance', 'repeating maintenances'],
} as const satisfies Record<ImportedRecordKind, readonly [one: string, many: string]>

/** Imports new and changed records. Returns the outcome for each, in order. */
export async function importRead<R extends ReadRecord>(
  ctx: ChangeContext,
  organizationId: string,
  from: ImportSource,
  { kind, read, textsOf, write }: Importing<R>,
): Promise<ImportOutcome[]> {
  const valid = read.flatMap((each) => ('outcome' in each ? [] : [each]))
  const before = await judge(ctx)
  if (from.dryRun) return outcomes(before)
  const texts = valid.filter(({ id }) => isWritten(before.get(id))).flatMap(textsOf)
  const rendered = await renderTexts(ctx, organizationId, texts)
  return change(ctx, organizationId, async (tx) => {
    const judged = await judge(tx)
    const writing = valid.flatMap((each) => {
      const found = judged.get(each.id)
      return isWritten(found) ? [{ ...each, known: found?.known }] : []
    })
    const left = valid.flatMap(({ id, digest }): NewRecord[] => {
      const found = judged.get(id)
      if (found?.outcome !== 'SKIPPED' || !found.known) return []
      const { current: _, ...record } = found.known
      return [{ ...record, digest }]
    })
    const written = writing.length === 0 ? [] : await write(tx, writing, rendered)
    await saveRecords(tx, organizationId, { ...from, kind, records: [...written, ...left] })
    if (written.length === 0) return [outcomes(judged)]
    const subjectName = `${from.installation}: ${written.length} ${nouns[kind][written.length === 1 ? 0 : 1]}`
    return [outcomes(judged), { kind: 'HISTORY_IMPORTED', subjectId: organizationId, subjectName }]
  })

  async function judge({ db }: Context) {
    const ids = valid.map(({ id }) => id)
    const known = await readKnownRecords(db, organizationId, { ...from, kind, ids })
    const take = placesIn(await roomsFor(db, organizationId, kind))
    return new Map(
      valid.map(({ id, digest }) => {
        const found = importOutcomeOf(known.get(id), digest)
        return [id, { known: known.get(id), ...(found.outcome === 'CREATED' ? take(found) : found) }]
      }),
    )
  }

  function outcomes(judged: ReadonlyMap<string, ImportOutcome>) {
    return read.map((each): ImportOutcome => {
      if ('outcome' in each) return each
      const { outcome, reason } = judged.get(each.id) ?? skipped('')
      return { outcome, reason }
    })
  }
}

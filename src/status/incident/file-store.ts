import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { organizations } from '../../account/views.ts'
import type { Context, Database } from '../../core/context.ts'
import { described, idText } from '../../core/described.ts'
import { Conflict, NotFound, TierLimitReached } from '../../core/errors.ts'
import { isIdOf, newId } from '../../core/id.ts'
import { invalid } from '../../core/validation.ts'
import { plainRows } from '../../database/transaction.ts'
import type { IncidentFile } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { PageScope } from '../page-scope.ts'
import { concerns, isPublicIncident, shownCondition } from '../page-scope.ts'
import type { CheckedFile, UploadedFile } from './file-content.ts'
import { checkFile } from './file-content.ts'

/**
 * The maximum number of files of an update or note, of an incident, and the maximum size in bytes of all files of an
 * incident.
 */
export const MAX_FILES = 10
export const MAX_INCIDENT_FILES = 100
const MAX_INCIDENT_BYTES = 100 * 1024 * 1024

/** A file without its content. */
export type FileInfo = Omit<IncidentFile, 'content'>

/** Where a file belongs: to an update, to a note, or (neither) to the incident until an update or a note takes it. */
interface FilePlace {
  readonly organizationId: string
  readonly incidentId: string
  readonly updateId: string | null
  readonly noteId: string | null
}

/** The ids of uploaded files that an update or a note takes over. */
export const fileIds = described(
  z
    .array(idText)
    .max(MAX_FILES, `must have at most ${MAX_FILES} items`)
    .refine((ids) => new Set(ids).size === ids.length, 'must not repeat an item')
    .nullish(),
  {
    description:
      'Files to attach: uploaded to the incident (POST /api/v1/incidents/{id}/files), and not attached to an update or a note yet.',
  },
)

/** A file of a form with several file inputs, some of them empty. */
export interface PlacedFile extends UploadedFile {
  /** The index in the path of an issue; defaults to the index of the file. */
  readonly place?: number
}

/** Checks the files of an update or note. @throws Invalid, with the paths `files.0.content` and `files.0.alt`. */
export function checkFiles(files: readonly PlacedFile[]): CheckedFile[] {
  if (files.length > MAX_FILES) throw invalid([{ path: ['files'], message: `must have at most ${MAX_FILES} items` }])
  return files.map((file, index) => checkFile(file, ['files', String(file.place ?? index)]))
}

/**
 * Stores files inside a change, and moves files that were uploaded earlier to their update or note.
 * @throws Conflict `TIMELINE_FULL` and TierLimitReached if there is no room.
 * @throws NotFound for an unknown id.
 */
export async function addFiles(
  { db, now }: Context,
  place: FilePlace,
  files: readonly CheckedFile[],
  waiting: readonly string[] = [],
): Promise<FileInfo[]> {
  if (files.length + waiting.length === 0) return []
  await requireRoom(db, place, files, waiting.length)
  const { organizationId, incidentId, updateId, noteId } = place
  const taken = await takeFiles(db, place, waiting)
  const added: FileInfo[] = []
  for (const [index, { name, type, alt, width, height, content }] of files.entries()) {
    // Keeps the order of files that are uploaded together.
    const createdAt = new Date(now().getTime() + index)
    const own = { name, type, size: content.length, alt, width, height, createdAt }
    const file = { id: newId('IncidentFile'), organizationId, incidentId, updateId, noteId, ...own }
    await db.$queryRaw`
      INSERT INTO "IncidentFile" (id, "organizationId", "incidentId", "updateId", "noteId", name, type, size, alt, width, height,
        content, "createdAt")
      VALUES (${file.id}, ${organizationId}, ${incidentId}, ${updateId}, ${noteId}, ${name}, ${type}, ${content.length}::int,
        ${alt}, ${width}::int, ${height}::int, ${content}::bytea, ${createdAt}::timestamptz)`
    added.push(file)
  }
  return [...taken, ...added]
}

async function requireRoom(
  db: Context['db'],
  { organizationId, incidentId, updateId, noteId }: FilePlace,
  files: readonly CheckedFile[],
  waiting: number,
): Promise<void> {
  const [used] = await db.$queryRaw<[{ tier: Tier; bytes: number; own: number; ownBytes: number; here: number }]>`
    SELECT organization.tier, coalesce(sum(size), 0)::float8 AS bytes,
      (count(*) FILTER (WHERE "incidentId" = ${incidentId}))::int AS own,
      coalesce(sum(size) FILTER (WHERE "incidentId" = ${incidentId}), 0)::float8 AS "ownBytes",
      (count(*) FILTER (WHERE "updateId" = ${updateId} OR "noteId" = ${noteId}))::int AS here
    FROM ${organizations} AS organization LEFT JOIN "IncidentFile" AS file ON file."organizationId" = organization.id
    WHERE organization.id = ${organizationId} GROUP BY organization.id, organization.tier`
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
  if (used.here + files.length + waiting > MAX_FILES)
    throw new Conflict(`An update or a note can have at most ${MAX_FILES} files.`, 'TIMELINE_FULL')
  if (used.own + files.length > MAX_INCIDENT_FILES || used.ownBytes + bytes > MAX_INCIDENT_BYTES) {
    const limit = `${MAX_INCIDENT_FILES} files and ${MAX_INCIDENT_BYTES / 1024 / 1024} MB`
    throw new Conflict(`An incident can have at most ${limit}. Delete a file first.`, 'TIMELINE_FULL')
  }
  const { fileBytes } = tierLimits[used.tier]
  if (used.bytes + bytes > fileBytes) {
    const limit = fileBytes / 1_000_000
    throw new TierLimitReached(`The files of all incidents can have at most ${limit} MB on this tier.`, limit)
  }
}

/**
 * Moves unassigned files to an update or a note. @throws NotFound unless all of them are unassigned files of the
 * incident.
 */
async function takeFiles(
  db: Context['db'],
  { incidentId, updateId, noteId }: FilePlace,
  ids: readonly string[],
): Promise<FileInfo[]> {
  if (ids.length === 0) return []
  const rows = await db.$queryRaw<FileInfo[]>`
    UPDATE "IncidentFile" SET "updateId" = ${updateId}, "noteId" = ${noteId}
    WHERE id = ANY (${ids.filter((id) => isIdOf('IncidentFile', id))}::text[]) AND "incidentId" = ${incidentId}
      AND "updateId" IS NULL AND "noteId" IS NULL
    RETURNING ${infoColumns}`
  if (rows.length !== ids.length) throw fileNotFound()
  return rows
}

const infoColumns = Prisma.sql`id, "organizationId", "incidentId", "updateId", "noteId", name, type, size, alt, width, height, "createdAt"`
const fileNotFound = () => new NotFound('File not found.')

/** Reads a file of the organization without its content. @throws NotFound. */
export async function findIncidentFile(db: Database, organizationId: string, id: string): Promise<FileInfo> {
  const found = isIdOf('IncidentFile', id)
    ? await db.incidentFile.findUnique({ where: { id, organizationId }, omit: { content: true } })
    : null
  if (found === null) throw fileNotFound()
  return found
}

/**
 * Reads the files of incidents without their content, oldest first. The caller must belong to the organization. Runs
 * one statement.
 */
export function readFiles(db: Database, incidentIds: readonly string[]): Promise<FileInfo[]> {
  return readInfos(db, Prisma.sql`"incidentId" = ANY (${[...incidentIds]}::text[])`)
}

/**
 * Reads the files of updates without their content, oldest first. The caller must be allowed to read the updates. Runs
 * one statement.
 */
export function readUpdateFiles(db: Database, updateIds: readonly string[]): Promise<FileInfo[]> {
  return readInfos(db, Prisma.sql`"updateId" = ANY (${[...updateIds]}::text[])`)
}

const readInfos = (db: Database, condition: Prisma.Sql) =>
  plainRows<FileInfo>(
    db,
    Prisma.sql`SELECT ${infoColumns} FROM "IncidentFile" WHERE ${condition} ORDER BY "createdAt", id`,
  )

/** A file with its content. */
export interface FileContent extends FileInfo {
  readonly content: Buffer
}

/** Reads the content of a file of the organization. @throws NotFound. */
export async function readFileContent(db: Database, organizationId: string, id: string): Promise<FileContent> {
  return readContent(db, id, Prisma.sql`"organizationId" = ${organizationId}`)
}

/**
 * Reads the content of a file that a page shows: a file of an update of one of its public incidents.
 * @param known the file from an earlier read; returned without reading the content again if the page still shows it.
 * @throws NotFound.
 */
export async function readPublicFile(
  db: Database,
  { organizationId, serviceIds }: PageScope,
  id: string,
  known: FileContent | null,
): Promise<FileContent> {
  const shown = shownCondition({ serviceIds })
  const incident = Prisma.sql`"IncidentFile"."incidentId"`
  const isShown = Prisma.sql`"organizationId" = ${organizationId} AND "updateId" IS NOT NULL
    AND EXISTS (SELECT FROM "Incident" WHERE id = ${incident} AND ${isPublicIncident})
    ${shown === null ? Prisma.empty : Prisma.sql`AND ${concerns('Incident', incident, shown)}`}`
  if (known === null) return readContent(db, id, isShown)
  const found = await plainRows(db, Prisma.sql`SELECT FROM "IncidentFile" WHERE id = ${known.id} AND ${isShown}`)
  if (found.length === 0) throw fileNotFound()
  return known
}

async function readContent(db: Database, id: string, condition: Prisma.Sql): Promise<FileContent> {
  const rows = isIdOf('IncidentFile', id)
    ? await plainRows<FileContent>(
        db,
        Prisma.sql`SELECT ${infoColumns}, content FROM "IncidentFile" WHERE id = ${id} AND ${condition}`,
      )
    : []
  const [found] = rows
  if (found === undefined) throw fileNotFound()
  return found
}

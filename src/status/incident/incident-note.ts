import { z } from 'zod'
import { apiKeys } from '../../account/views.ts'
import { hasScope, requireScope } from '../../core/access.ts'
import type { Actor, Context, Database } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { Conflict, Forbidden, NotFound } from '../../core/errors.ts'
import { isIdOf, newId } from '../../core/id.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import { plainRows } from '../../database/transaction.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import { actorKindOf, keyIdOf, userIdOf } from '../../event-log/event.ts'
import type { IncidentNote } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { people } from '../../people/views.ts'
import type { Author } from '../timeline/authors.ts'
import { message } from '../timeline/timeline-limits.ts'
import type { PlacedFile } from './file-store.ts'
import { addFiles, checkFiles, fileIds } from './file-store.ts'
import { findIncident, privateEvent, requireOwnTimeline } from './incident.ts'

/** The maximum number of notes of an incident, few enough to read them all at once. */
export const MAX_NOTES = 200

const text = described(message, { description: 'The note, in markdown.' })

/** The input of `createIncidentNote`. */
export const newNote = named(z.object({ incidentId: idOf('The incident.'), message: text, fileIds }), {
  name: 'CreateIncidentNote',
  about: 'The private note to add to an incident.',
})

/**
 * Adds a private note to the timeline of an incident. Only the organization can see it; neither pages nor the
 * incident's version change. Requires a key with scope WRITE.
 * @param uploaded files to add to the note.
 * @throws Invalid, NotFound, TierLimitReached, and Conflict if the incident was merged, or has too many notes or files.
 */
export async function createIncidentNote(
  ctx: ChangeContext,
  input: unknown,
  uploaded: readonly PlacedFile[] = [],
): Promise<IncidentNote> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, message, fileIds } = validate(newNote, input)
  const files = checkFiles(uploaded)
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(incident)
    if ((await tx.db.incidentNote.count({ where: { incidentId } })) >= MAX_NOTES)
      throw new Conflict(`An incident can have at most ${MAX_NOTES} notes. Delete one first.`, 'TIMELINE_FULL')
    const note = await tx.db.incidentNote.create({
      data: {
        ...{ id: newId('IncidentNote'), organizationId, incidentId, message, ...html, createdAt: tx.now() },
        ...{ actorKind: actorKindOf(tx.actor), actorKeyId: keyIdOf(tx.actor), actorUserId: userIdOf(tx.actor) },
      },
    })
    const place = { organizationId, incidentId, updateId: null, noteId: note.id }
    await addFiles(tx, place, files, fileIds ?? [])
    return [note, privateEvent('INCIDENT_NOTE_ADDED', incident)]
  })
}

/** The input of `updateIncidentNote`. */
export const noteEdit = named(z.object({ id: idOf('The note to change.'), message: text, version: versionInput }), {
  name: 'UpdateIncidentNote',
  about: 'The new text of a note.',
})

/**
 * Edits a note. Only its author and callers with the scope ADMIN can.
 * @throws Invalid, NotFound, Forbidden, and Conflict if the note is newer than the given version.
 */
export async function updateIncidentNote(ctx: ChangeContext, input: unknown): Promise<IncidentNote> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, version } = validate(noteEdit, input)
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findIncidentNote(tx, organizationId, id)
    requireAuthor(tx.actor, before)
    requireVersion(before, version)
    if (before.message === message) return [before]
    const data = { message, ...html, editedAt: tx.now(), version: { increment: 1 } }
    const note = await tx.db.incidentNote.update({ where: { id }, data })
    return [note, privateEvent('INCIDENT_NOTE_EDITED', incident)]
  })
}

/**
 * Deletes a note and returns it. Only its author and callers with the scope ADMIN can. @throws NotFound and Forbidden.
 */
export async function deleteIncidentNote(ctx: ChangeContext, id: string): Promise<IncidentNote> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...note } = await findIncidentNote(tx, organizationId, id)
    requireAuthor(tx.actor, note)
    await tx.db.incidentNote.delete({ where: { id } })
    return [note, privateEvent('INCIDENT_NOTE_DELETED', incident)]
  })
}

/** Reads a note of the organization, with its incident. @throws NotFound. */
export async function findIncidentNote({ db }: Context, organizationId: string, id: string) {
  const found = isIdOf('IncidentNote', id)
    ? await db.incidentNote.findUnique({ where: { id, organizationId }, include: { incident: true } })
    : null
  if (found === null) throw new NotFound('Note not found.')
  return found
}

/** Returns whether a caller can edit and delete a note: its author, or a caller with the scope ADMIN. */
export function mayEditNote(
  actor: Actor,
  { organizationId, actorKeyId, actorUserId }: Pick<IncidentNote, 'organizationId' | 'actorKeyId' | 'actorUserId'>,
): boolean {
  if (hasScope(actor, organizationId, 'ADMIN')) return true
  if (!hasScope(actor, organizationId, 'WRITE')) return false
  const [keyId, userId] = [keyIdOf(actor), userIdOf(actor)]
  return (keyId !== null && keyId === actorKeyId) || (userId !== null && userId === actorUserId)
}

/** @throws Forbidden unless the caller can edit the note. */
export function requireAuthor(actor: Actor, note: IncidentNote): void {
  if (!mayEditNote(actor, note))
    throw new Forbidden('FORBIDDEN', 'Only the author of a note or an admin can change it.')
}

/** A note with its author. */
export interface NoteWithAuthor extends IncidentNote {
  readonly author: Author
}

/**
 * Reads the notes of incidents with their authors, newest first. The caller must belong to the organization. Runs one
 * statement.
 */
export async function readNotes(db: Database, incidentIds: readonly string[]): Promise<NoteWithAuthor[]> {
  if (incidentIds.length === 0) return []
  const rows = await plainRows<IncidentNote & { readonly authorName: string | null }>(
    db,
    Prisma.sql`
      SELECT note.*, coalesce(person.name, key.name) AS "authorName"
      FROM "IncidentNote" AS note
      LEFT JOIN ${people} AS person ON person.id = note."actorUserId"
      LEFT JOIN ${apiKeys} AS key ON key.id = note."actorKeyId"
      WHERE note."incidentId" = ANY(${[...incidentIds]}::text[])
      ORDER BY note."createdAt" DESC, note.id DESC`,
  )
  return rows.map(({ authorName, ...note }) => ({ ...note, author: { kind: note.actorKind, name: authorName } }))
}

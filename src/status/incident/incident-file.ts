import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { atMostOne, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import type { FileInfo, PlacedFile } from './file-store.ts'
import { addFiles, checkFiles, findIncidentFile } from './file-store.ts'
import { findIncident, incidentEvent, privateEvent, requireOwnTimeline } from './incident.ts'
import { findIncidentNote, requireAuthor } from './incident-note.ts'
import { findIncidentUpdate } from './incident-updates.ts'

const upload = z.object({ incidentId: z.string(), updateId: z.string().nullish(), noteId: z.string().nullish() })

/**
 * Adds files to an update or a note of an incident. Without either, only members see the files until an update or a
 * note takes them over (`fileIds`). No subscriber is notified. Requires a key with scope WRITE; only the author of a
 * note and admins can add files to it.
 * @throws Invalid, NotFound, Forbidden, TierLimitReached, and Conflict if the incident was merged or has no room.
 */
export async function uploadIncidentFiles(
  ctx: ChangeContext,
  input: unknown,
  uploaded: readonly PlacedFile[],
): Promise<FileInfo[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, ...given } = validate(upload, input)
  atMostOne(['updateId', 'noteId'], given)
  const files = checkFiles(uploaded)
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<FileInfo[]>> => {
    const incident = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(incident)
    const place = { organizationId, incidentId, updateId: given.updateId || null, noteId: given.noteId || null }
    if (place.updateId !== null) {
      const update = await findIncidentUpdate(tx, organizationId, place.updateId)
      if (update.incidentId !== incidentId) throw new NotFound('Incident update not found.')
      return [await addFiles(tx, place, files), await updateEvent(tx, incident, place.updateId)]
    }
    if (place.noteId !== null) {
      const note = await findIncidentNote(tx, organizationId, place.noteId)
      if (note.incidentId !== incidentId) throw new NotFound('Note not found.')
      requireAuthor(tx.actor, note)
    }
    return [await addFiles(tx, place, files), privateEvent('INCIDENT_FILE_ADDED', incident)]
  })
}

/** Marks an update as edited, because its files changed, and returns the event. */
async function updateEvent(tx: Context, incident: Incident, updateId: string) {
  await tx.db.incidentUpdate.update({
    where: { id: updateId },
    data: { editedAt: tx.now(), version: { increment: 1 } },
  })
  // Monitors no longer resolve an incident that a person has edited.
  await tx.db.incident.update({ where: { id: incident.id }, data: { automatic: false } })
  return incidentEvent('INCIDENT_UPDATE_EDITED', incident, { updateId })
}

/**
 * Deletes a file and returns it. Requires a key with scope WRITE; only the author of a note and admins can delete its
 * files.
 * @throws NotFound and Forbidden.
 */
export async function deleteIncidentFile(ctx: ChangeContext, id: string): Promise<FileInfo> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<FileInfo>> => {
    const file = await findIncidentFile(tx.db, organizationId, id)
    if (file.noteId !== null) requireAuthor(tx.actor, await findIncidentNote(tx, organizationId, file.noteId))
    const incident = await findIncident(tx, organizationId, file.incidentId)
    await tx.db.incidentFile.deleteMany({ where: { id } })
    if (file.updateId !== null) return [file, await updateEvent(tx, incident, file.updateId)]
    return [file, privateEvent('INCIDENT_FILE_DELETED', incident)]
  })
}

import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { described, idOf, named, timeOf } from '../../core/described.ts'
import { Conflict } from '../../core/errors.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { notFound } from '../ownership.ts'
import { message, notifySubscribers, requireRoomForUpdate } from '../timeline/timeline-limits.ts'
import { messageChanges, translations } from '../timeline/translations.ts'
import { requireNotInFuture } from '../timeline/update-time.ts'
import { findIncident, incidentEvent, manual, requireOwnTimeline } from './incident.ts'
import { readPart, writeTimeline } from './incident-merging.ts'
import type { ServiceStatuses } from './incident-services.ts'
import { addUpdate } from './incident-updates.ts'
import type { MergedPart } from './merged-timeline.ts'
import type { MovedService } from './moved-service.ts'
import { moveService } from './moved-service.ts'

/** The input of `moveIncidentService`. */
export const serviceMove = named(
  z.object({
    serviceId: idOf('The service.'),
    fromId: idOf('The incident that the service leaves.'),
    intoId: idOf('The incident that the service joins.'),
    at: timeOf(
      'When it moves: after the newest update of both incidents (of the one that it joins, if the other is not public), not in the future. Default: now.',
    ).nullish(),
    message: described(message.nullish(), {
      description:
        'The update to post to the incident that it joins, in markdown. Default: an update without text, which notifies no subscribers.',
    }),
    translations: translations.messages,
    notifySubscribers,
  }),
  {
    name: 'MoveIncidentService',
    about:
      'The service to move from one open incident to another. From a public incident, it can move only to a public one.',
  },
)

/**
 * Moves a service with its status from one open incident (the source) to another (the target), by default now, or at a
 * time after the updates of both.
 * - If both are public, the source has the service until then, and the target after that, with the worse of both
 *   statuses. Both get an update.
 * - If the source is a draft or a suggestion, no visitor has seen its service, so all its updates lose the service.
 *   Only the target gets an update.
 * - If only the source is public, the move is refused, because the page would show the service as operational.
 * The message, if any, becomes the message of the target's update, which notifies subscribers if the target is public.
 * Monitors that are down move with their service. Requires a key with scope WRITE.
 * @throws Invalid, also for a time that is in the future or not after those updates. @throws NotFound. @throws
 * Conflict: `INCIDENT_RESOLVED` unless both are open, `INCIDENT_NOT_PUBLIC` as above, `SERVICE_NOT_IMPAIRED` unless the
 * source impairs the service, `TIMELINE_FULL` if there is no room, and if either was merged.
 */
export async function moveIncidentService(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { serviceId, fromId, intoId, message, notifySubscribers, ...given } = validate(serviceMove, input)
  const text = message ?? ''
  const html = await renderMessage(ctx, organizationId, text)
  const messages = await messageChanges(ctx, organizationId, given.translations)
  return change(ctx, organizationId, async (tx) => {
    const [from, into] = [
      await findIncident(tx, organizationId, fromId),
      await findIncident(tx, organizationId, intoId),
    ]
    if (fromId === intoId) throw invalid([{ path: ['intoId'], message: 'must be another incident' }])
    requireMovable(from, into)
    const parts = [await readPart(tx.db, from), await readPart(tx.db, into)] as const
    const written = from.visibility === 'PUBLIC' ? parts : [parts[1]]
    for (const { updates } of written) requireRoomForUpdate(updates.length + 1)
    requireImpaired(parts[0], serviceId)
    const at = given.at ?? tx.now()
    if (given.at) requireTime(given.at, written, tx.now())
    const moved = moveService(...parts, serviceId)
    await writeTimeline(tx, into, moved.into, parts)
    await moveMonitors(tx.db, { serviceId, fromId, intoId, at })
    const leaving =
      from.visibility === 'PUBLIC'
        ? await postRecovery(tx, from, { serviceId, at, moved, parts })
        : await removeService(tx, from, serviceId)
    // Incidents never set the status UNDER_MAINTENANCE.
    const services = [{ serviceId, status: moved.status }] as ServiceStatuses
    const update = {
      ...{ status: into.status, message: text, ...html, messages, services },
      notifySubscribers: notifySubscribers && text !== '',
    }
    const [, joining] = await addUpdate(tx, { ...into, ...manual }, update, at)
    const events = [leaving, joining].flatMap((event) => (event ? [event] : []))
    return [await findIncident(tx, organizationId, intoId), ...events]
  })
}

/** @throws Conflict unless both incidents are open, and the target is public if the source is. */
function requireMovable(from: Incident, into: Incident): void {
  for (const each of [from, into]) {
    requireOwnTimeline(each)
    if (each.status === 'RESOLVED')
      throw new Conflict(
        'Services move between open incidents. Post an update to reopen a resolved one, or correct its past with updates.',
        'INCIDENT_RESOLVED',
      )
  }
  if (from.visibility === 'PUBLIC' && into.visibility !== 'PUBLIC')
    throw new Conflict(
      'Publish the other incident first. Otherwise the page would show the service as operational.',
      'INCIDENT_NOT_PUBLIC',
    )
}

/** @throws NotFound if the incident does not name the service. @throws Conflict if the service has recovered. */
function requireImpaired({ current }: MergedPart, serviceId: string): void {
  const status = current.get(serviceId)
  if (status === undefined) throw notFound('Service')
  if (status === 'OPERATIONAL') throw new Conflict('The incident does not impair this service.', 'SERVICE_NOT_IMPAIRED')
}

interface Leaving {
  readonly serviceId: string
  readonly at: Date
  readonly moved: MovedService
  readonly parts: readonly MergedPart[]
}

/** Posts an update without a message to a public incident, in which the service is operational. */
async function postRecovery(
  tx: Context,
  from: Incident,
  { serviceId, at, moved, parts }: Leaving,
): Promise<NewEvent | undefined> {
  await writeTimeline(tx, from, moved.from, parts)
  const services = [{ serviceId, status: 'OPERATIONAL' }] as const
  const quiet = { status: from.status, message: '', ...(await renderMessage(tx, from.organizationId, '')) }
  const [, event] = await addUpdate(tx, { ...from, ...manual }, { ...quiet, services, notifySubscribers: false }, at)
  return event
}

/** Removes a service from an incident that was never public, and from all its updates. */
async function removeService({ db }: Context, from: Incident, serviceId: string): Promise<NewEvent> {
  await db.incidentUpdateService.deleteMany({ where: { serviceId, update: { incidentId: from.id } } })
  await db.incidentService.deleteMany({ where: { serviceId, incidentId: from.id } })
  await db.incident.update({ where: { id: from.id }, data: { ...manual, version: { increment: 1 } } })
  return incidentEvent('INCIDENT_UPDATED', from, { serviceIds: [serviceId] })
}

/**
 * @throws Invalid for a time in the future, or before an update of the parts. @param parts the incidents that get an
 * update.
 */
function requireTime(at: Date, parts: readonly MergedPart[], now: Date): void {
  requireNotInFuture('at', at, now)
  const isAfter = ({ startedAt, updates }: MergedPart) =>
    at > startedAt && updates.every(({ createdAt }) => createdAt < at)
  if (parts.every(isAfter)) return
  const whose = parts.length === 1 ? 'the other incident' : 'both incidents'
  throw invalid([{ path: ['at'], message: `must be after the start and the newest update of ${whose}` }])
}

/** Moves the monitors of a service that are down from one incident to another. */
async function moveMonitors(
  db: Database,
  {
    serviceId,
    fromId,
    intoId,
    at,
  }: { readonly serviceId: string; readonly fromId: string; readonly intoId: string; readonly at: Date },
): Promise<void> {
  await db.$executeRaw`
    WITH gone AS (
      UPDATE "IncidentMonitor" AS link SET "leftAt" = ${at}::timestamptz FROM "Monitor" AS monitor
      WHERE link."incidentId" = ${fromId} AND link."leftAt" IS NULL AND monitor.id = link."monitorId"
        AND monitor."serviceId" = ${serviceId}
      RETURNING link."monitorId"
    )
    INSERT INTO "IncidentMonitor" ("incidentId", "monitorId", "joinedAt")
    SELECT ${intoId}, "monitorId", ${at}::timestamptz FROM gone
    ON CONFLICT ("incidentId", "monitorId") DO UPDATE SET "leftAt" = NULL`
}

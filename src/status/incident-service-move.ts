import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context, Database } from '../core/context.ts'
import { Conflict } from '../core/errors.ts'
import { renderMessage } from '../core/markdown-rendering.ts'
import { invalid, validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { Incident } from '../generated/prisma/client.ts'
import { findIncident } from './incident.ts'
import { requireNotInFuture } from './incident-corrections.ts'
import { readPart, writeTimeline } from './incident-merging.ts'
import type { ServiceStatuses } from './incident-services.ts'
import { addUpdate } from './incident-updates.ts'
import type { MergedPart } from './merged-timeline.ts'
import { moveService } from './moved-service.ts'
import { notFound } from './ownership.ts'
import { message, requireRoomForUpdate, tellSubscribers } from './timeline-limits.ts'
import { messageChanges, translations } from './translations.ts'

const move = z.object({
  serviceId: z.string(),
  fromId: z.string(),
  intoId: z.string(),
  at: z.date().nullish(),
  message: message.nullish(),
  translations: translations.messages,
  tellSubscribers,
})

/**
 * Moves a service with its status from one open incident to another, as of a time after the updates of both (by default now): until
 * then the first speaks of it, from then on the other, with the worse of what both said. Both get an update that says so; that of the
 * other has the message, if there is one, and then its subscribers are told. Monitors that are down go with their service. Requires a
 * key with scope WRITE.
 * @throws Invalid, also for another time. @throws NotFound. @throws Conflict unless both are public and open, the first says that the
 * service is impaired, and their timelines have room.
 */
export async function moveIncidentService(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { serviceId, fromId, intoId, message, tellSubscribers, ...given } = validate(move, input)
  const words = message ?? ''
  const html = await renderMessage(ctx, organizationId, words)
  const messages = await messageChanges(ctx, organizationId, given.translations)
  return change(ctx, organizationId, async (tx) => {
    const [from, into] = [
      await findIncident(tx, organizationId, fromId),
      await findIncident(tx, organizationId, intoId),
    ]
    if (fromId === intoId) throw invalid([{ path: ['intoId'], message: 'must be another incident' }])
    for (const each of [from, into]) requireOpen(each)
    const parts = [await readPart(tx.db, from), await readPart(tx.db, into)] as const
    for (const { updates } of parts) requireRoomForUpdate(updates.length + 1)
    const impaired = parts[0].current.get(serviceId)
    if (impaired === undefined) throw notFound('Service')
    if (impaired === 'OPERATIONAL') throw new Conflict('The incident does not say that this service is impaired.')
    const at = given.at ?? tx.now()
    if (given.at) requireTime(given.at, parts, tx.now())
    const moved = moveService(...parts, serviceId)
    await writeTimeline(tx, from, moved.from, parts)
    await writeTimeline(tx, into, moved.into, parts)
    await moveMonitors(tx.db, { serviceId, fromId, intoId, at })
    const recovered = [{ serviceId, status: 'OPERATIONAL' }] as const
    const quiet = { status: from.status, message: '', ...(await renderMessage(tx, organizationId, '')) }
    const [, leaving] = await addUpdate(
      tx,
      { ...from, automatic: false },
      { ...quiet, services: recovered, tellSubscribers: false },
      at,
    )
    // No incident says of a service that it is under maintenance.
    const services = [{ serviceId, status: moved.status }] as ServiceStatuses
    const told = { services, tellSubscribers: tellSubscribers && words !== '' }
    const entry = { status: into.status, message: words, ...html, messages, ...told }
    const [, joining] = await addUpdate(tx, { ...into, automatic: false }, entry, at)
    const events = [leaving, joining].flatMap((event) => (event ? [event] : []))
    return [await findIncident(tx, organizationId, intoId), ...events]
  })
}

/** @throws Conflict unless an incident is public and open. */
function requireOpen({ visibility, status }: Incident): void {
  if (visibility === 'PUBLIC' && status !== 'RESOLVED') return
  throw new Conflict('Services move between public, open incidents only.')
}

/** @throws Invalid for a time in the future, or one that an incident has already spoken of. */
function requireTime(at: Date, parts: readonly MergedPart[], now: Date): void {
  requireNotInFuture('at', at, now)
  const isAfter = ({ startedAt, updates }: MergedPart) =>
    at > startedAt && updates.every(({ createdAt }) => createdAt < at)
  if (!parts.every(isAfter))
    throw invalid([{ path: ['at'], message: 'must be after the start and the newest update of both incidents' }])
}

/** Moves the monitors of a service that are down in one incident to another. */
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

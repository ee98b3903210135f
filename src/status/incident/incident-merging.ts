import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { Conflict } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident, IncidentImpact } from '../../generated/prisma/client.ts'
import { followers } from '../followers.ts'
import { stateByIncidents } from '../service/statement.ts'
import { MAX_UPDATES, message, notifySubscribers } from '../timeline/timeline-limits.ts'
import { messageChanges, translations } from '../timeline/translations.ts'
import { findIncident, incidentEvent, requireOwnTimeline } from './incident.ts'
import { readTimeline } from './incident-corrections.ts'
import { addUpdate } from './incident-updates.ts'
import type { JointTimeline, JointUpdate, MergedPart } from './merged-timeline.ts'
import { joinTimelines } from './merged-timeline.ts'

/** The input of `mergeIncidents`. */
export const merger = named(
  z.object({
    id: idOf('The incident to merge into the other one.'),
    intoId: idOf('The incident that remains.'),
    message: described(message.nullish(), {
      description:
        'An update to post to the remaining incident, in markdown. Default: none, and no subscriber is notified.',
    }),
    translations: translations.messages,
    notifySubscribers,
  }),
  { name: 'MergeIncidents', about: 'The incidents to merge, both public.' },
)

const impacts: readonly IncidentImpact[] = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL']

/**
 * Merges an incident into another one, which gets its updates, services, monitors and followers, the earlier start and
 * the greater impact. The statuses of services over time do not change, and count once. The page of the merged incident
 * redirects to the other one. A message becomes an update of the other incident, which notifies subscribers; the merge
 * alone notifies no subscribers. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict unless both are public and their timelines fit into one.
 */
export async function mergeIncidents(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, intoId, message, notifySubscribers, ...given } = validate(merger, input)
  const html = message ? await renderMessage(ctx, organizationId, message) : null
  const messages = await messageChanges(ctx, organizationId, given.translations)
  return change(ctx, organizationId, async (tx) => {
    const [merged, into] = [await findIncident(tx, organizationId, id), await findIncident(tx, organizationId, intoId)]
    if (id === intoId) throw invalid([{ path: ['intoId'], message: 'must be another incident' }])
    for (const each of [merged, into]) requireOwnTimeline(each)
    if (merged.visibility !== 'PUBLIC' || into.visibility !== 'PUBLIC')
      throw new Conflict('Only public incidents can be merged. Publish the draft first, or dismiss it.')
    const parts = [await readPart(tx.db, merged), await readPart(tx.db, into)] as const
    if (parts[0].updates.length + parts[1].updates.length >= MAX_UPDATES)
      throw new Conflict(`Together, the timelines have more than ${MAX_UPDATES} updates.`, 'TIMELINE_FULL')
    const joint = joinTimelines(...parts)
    await writeTimeline(tx, into, joint.updates, parts)
    await moveLinks(tx.db, id, intoId)
    const incident = await writeJoint(tx.db, { merged, into, joint })
    await stateByIncidents(tx, [intoId])
    const mergedEvent = incidentEvent('INCIDENT_MERGED', merged, { notifySubscribers: false })
    const updated = incidentEvent('INCIDENT_UPDATED', incident, { notifySubscribers: false })
    if (!message || html === null) return [incident, mergedEvent, updated]
    const update = { status: joint.status, message, ...html, messages, services: [], notifySubscribers }
    const [, posted] = await addUpdate(tx, incident, update)
    return [await findIncident(tx, organizationId, intoId), mergedEvent, updated, ...(posted ? [posted] : [])]
  })
}

/** Reads the timeline of an incident for a merge. */
export async function readPart(db: Context['db'], { id, startedAt, resolvedAt }: Incident): Promise<MergedPart> {
  const services = await db.incidentService.findMany({ where: { incidentId: id } })
  return {
    startedAt,
    resolvedAt,
    current: new Map(services.map(({ serviceId, status }) => [serviceId, status])),
    updates: await readTimeline({ db } as Context, id),
  }
}

/**
 * Writes the updates of an incident's new timeline that differ from the stored ones. @param parts the stored timelines.
 */
export async function writeTimeline(
  { db }: Context,
  { id: incidentId, organizationId }: Pick<Incident, 'id' | 'organizationId'>,
  updates: readonly JointUpdate[],
  parts: readonly MergedPart[],
): Promise<void> {
  const known = new Map(parts.flatMap((part) => part.updates).map((update) => [update.id, update]))
  for (const { id, status, createdAt, services } of updates) {
    const before = id === null ? undefined : known.get(id)
    if (id === null) {
      const words = { message: '', html: '', status, createdAt }
      const data = { id: newId('IncidentUpdate'), organizationId, incidentId, ...words }
      await db.incidentUpdate.create({ data: { ...data, services: { create: [...services] } } })
      continue
    }
    const isSame = before?.status === status && before.createdAt.getTime() === createdAt.getTime()
    const keys = (of: typeof services) =>
      of
        .map((each) => `${each.serviceId} ${each.status}`)
        .sort()
        .join()
    const says = keys(services) === keys(before?.services ?? [])
    const rows = says ? {} : { services: { deleteMany: {}, create: [...services] } }
    if (isSame && says) continue
    await db.incidentUpdate.update({ where: { id }, data: { status, createdAt, ...rows } })
  }
  const ids = updates.flatMap(({ id }) => (id === null ? [] : [id]))
  await db.incidentUpdate.updateMany({ where: { id: { in: ids } }, data: { incidentId } })
}

/**
 * Moves the monitors, followers, alerts and notes of an incident to another one, and its post-mortem and lead unless
 * the other has its own.
 */
async function moveLinks(db: Database, from: string, to: string): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "IncidentMonitor" ("incidentId", "monitorId", "joinedAt", "leftAt")
    SELECT ${to}, "monitorId", "joinedAt", "leftAt" FROM "IncidentMonitor" WHERE "incidentId" = ${from}
    ON CONFLICT ("incidentId", "monitorId") DO UPDATE SET "joinedAt" = least("IncidentMonitor"."joinedAt", EXCLUDED."joinedAt"),
      "leftAt" = CASE WHEN "IncidentMonitor"."leftAt" IS NULL OR EXCLUDED."leftAt" IS NULL THEN NULL
        ELSE greatest("IncidentMonitor"."leftAt", EXCLUDED."leftAt") END`
  await db.$executeRaw`DELETE FROM "IncidentMonitor" WHERE "incidentId" = ${from}`
  await db.$executeRaw`
    UPDATE "Postmortem" SET id = ${to} WHERE id = ${from} AND NOT EXISTS (SELECT 1 FROM "Postmortem" WHERE id = ${to})`
  await db.$executeRaw`UPDATE "IncidentNote" SET "incidentId" = ${to} WHERE "incidentId" = ${from}`
  await db.$executeRaw`UPDATE "IncidentFile" SET "incidentId" = ${to} WHERE "incidentId" = ${from}`
  await db.$executeRaw`
    UPDATE "IncidentLead" SET "incidentId" = ${to}
    WHERE "incidentId" = ${from} AND NOT EXISTS (SELECT 1 FROM "IncidentLead" WHERE "incidentId" = ${to})`
  for (const move of followers.get().moveIncident) await move(db, from, to)
}

async function writeJoint(
  db: Context['db'],
  { merged, into, joint }: { readonly merged: Incident; readonly into: Incident; readonly joint: JointTimeline },
): Promise<Incident> {
  // The merged incident keeps its services, which determine the pages that it was on.
  await db.incidentService.deleteMany({ where: { incidentId: into.id } })
  const services = [...joint.current].map(([serviceId, status]) => ({ incidentId: into.id, serviceId, status }))
  if (services.length > 0) await db.incidentService.createMany({ data: services })
  await db.incident.update({
    where: { id: merged.id },
    data: { visibility: 'MERGED', mergedIntoId: into.id, automatic: false, version: { increment: 1 } },
  })
  await db.incident.updateMany({ where: { mergedIntoId: merged.id }, data: { mergedIntoId: into.id } })
  const impact = impacts[Math.max(impacts.indexOf(merged.impact), impacts.indexOf(into.impact))] ?? into.impact
  const { startedAt, resolvedAt, status } = joint
  return db.incident.update({
    where: { id: into.id },
    data: { startedAt, resolvedAt, status, impact, automatic: false, version: { increment: 1 } },
  })
}

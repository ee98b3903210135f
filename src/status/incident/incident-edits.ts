import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { described, idOf, named, timeOf } from '../../core/described.ts'
import { hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { requireDistinct } from '../ownership.ts'
import { formerServices } from '../page-scope.ts'
import { stateByIncidents } from '../service/statement.ts'
import { titleText } from '../timeline/timeline-limits.ts'
import { titleChanges, translations, withChanges } from '../timeline/translations.ts'
import { findIncident, incidentEvent, manual, requireOwnTimeline } from './incident.ts'
import { requireTimes } from './incident-corrections.ts'
import { impact } from './incident-opening.ts'
import { readServiceStatuses, replaceServices, serviceIdOf, serviceStatuses } from './incident-services.ts'

/** The input of `updateIncident`. */
export const incidentEdit = named(
  z.object({
    id: idOf('The incident to change.'),
    title: titleText.optional(),
    impact: impact.optional(),
    services: described(serviceStatuses.nullish(), {
      description: 'All affected services. Replaces the current list.',
    }),
    startedAt: timeOf('When it started, not in the future.').nullish(),
    resolvedAt: timeOf('When it was resolved, not before its start. Allowed only for a resolved incident.').nullish(),
    translations: translations.titles,
    version: versionInput,
  }),
  { name: 'UpdateIncident', about: 'The changes. Omitted fields stay as they are.' },
)

/**
 * Updates the given fields of an incident; `services` replaces all affected services. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the incident is newer than the given version.
 */
export async function updateIncident(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, services, startedAt, resolvedAt, translations, ...given } = validate(incidentEdit, input)
  requireDistinct((services ?? []).map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  return change(ctx, organizationId, async (tx) => {
    const before = await findIncident(tx, organizationId, id)
    requireOwnTimeline(before)
    requireVersion(before, version)
    const times = timesAfter(before, { startedAt, resolvedAt }, tx.now())
    const former = services ? await replaceServices(tx, before, services) : null
    const fields = { ...given, titles: withChanges<string>(before.titles, titleChanges(translations)) }
    if (former === null && !hasChanges(before, { ...fields, ...times })) return [before]
    const incident = await tx.db.incident.update({
      where: { id },
      data: { ...fields, ...times, ...manual, version: { increment: 1 } },
    })
    const saysMore = former !== null || before.automatic || times.startedAt < before.startedAt
    if (saysMore) await stateByIncidents(tx, [id])
    const serviceIds = formerServices(former)
    return [incident, incidentEvent('INCIDENT_UPDATED', incident, { serviceIds })]
  })
}

/** Returns an incident's times after an edit. @throws Invalid as `requireTimes` does. */
function timesAfter(
  { status, ...before }: Incident,
  given: { readonly startedAt?: Date | null | undefined; readonly resolvedAt?: Date | null | undefined },
  now: Date,
): Pick<Incident, 'startedAt' | 'resolvedAt'> {
  const startedAt = given.startedAt ?? before.startedAt
  const resolvedAt = given.resolvedAt ?? before.resolvedAt
  if (given.startedAt || given.resolvedAt) requireTimes({ status, startedAt, resolvedAt }, now)
  return { startedAt, resolvedAt }
}

/** Deletes an incident with its timeline and returns it. Requires a key with scope WRITE. @throws NotFound. */
export async function deleteIncident(ctx: ChangeContext, id: string): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, id)
    const serviceIds = formerServices(await readServiceStatuses(tx, id))
    await tx.db.incident.delete({ where: { id } })
    return [incident, incidentEvent('INCIDENT_DELETED', incident, { serviceIds })]
  })
}

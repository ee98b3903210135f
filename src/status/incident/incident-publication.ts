import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { idOf, named } from '../../core/described.ts'
import { Conflict } from '../../core/errors.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { stateByIncidents } from '../service/statement.ts'
import { notifySubscribers } from '../timeline/timeline-limits.ts'
import { findIncident, incidentEvent, requireOwnTimeline } from './incident.ts'

/** The input of `publishIncident`. */
export const incidentPublication = named(z.object({ id: idOf('The incident to publish.'), notifySubscribers }), {
  name: 'PublishIncident',
  about: 'The draft or suggestion to publish.',
})

/**
 * Publishes a draft or a suggestion. A resolved incident notifies no one. Does nothing to a public incident. Requires a
 * key with scope WRITE.
 * @throws NotFound.
 */
export async function publishIncident(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, notifySubscribers } = validate(incidentPublication, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await findIncident(tx, organizationId, id)
    if (before.visibility === 'PUBLIC') return [before]
    requireOwnTimeline(before)
    const data = { visibility: 'PUBLIC', version: { increment: 1 } } as const
    const incident = await tx.db.incident.update({ where: { id }, data })
    await stateByIncidents(tx, [id])
    const newest = await tx.db.incidentUpdate.findFirst({
      where: { incidentId: id },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      select: { id: true },
    })
    const kind = incident.status === 'RESOLVED' ? 'INCIDENT_BACKFILLED' : 'INCIDENT_CREATED'
    return [incident, incidentEvent(kind, incident, { notifySubscribers, ...(newest && { updateId: newest.id }) })]
  })
}

/**
 * Deletes a draft or a suggestion and returns it. Requires a key with scope WRITE.
 * @throws NotFound.
 * @throws Conflict if it is public.
 */
export async function dismissIncident(ctx: ChangeContext, id: string): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, id)
    if (incident.visibility === 'PUBLIC') throw new Conflict('This incident is public. Resolve or delete it instead.')
    requireOwnTimeline(incident)
    await tx.db.incident.delete({ where: { id } })
    return [incident, incidentEvent('INCIDENT_DELETED', incident)]
  })
}

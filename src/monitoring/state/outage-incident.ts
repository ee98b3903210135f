import type { Database } from '../../core/context.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { incidentMonitors, incidents } from '../../status/views.ts'
import type { Outage } from '../uptime/uptime.ts'

/** An outage of a monitor. */
export interface MonitorOutage extends Outage {
  readonly monitorId: string
}

/**
 * Reads the id of the incident of each outage, in the same order: the monitor's latest incident that was open during
 * the outage; null: none. Runs one statement.
 */
export async function readIncidentIds(
  db: Database,
  outages: readonly MonitorOutage[],
): Promise<readonly (string | null)[]> {
  const linked = await db.$queryRaw<LinkedIncident[]>`
    SELECT link."monitorId", incident.id, incident."startedAt", incident."resolvedAt"
    FROM ${incidentMonitors} AS link JOIN ${incidents} AS incident ON incident.id = link."incidentId"
    WHERE link."monitorId" = ANY (${[...new Set(outages.map(({ monitorId }) => monitorId))]}::text[])
    ORDER BY incident."startedAt" DESC, incident.id`
  return outages.map((outage) => {
    const found = linked.find(
      ({ monitorId, ...incident }) => monitorId === outage.monitorId && wasOpenDuring(incident, outage),
    )
    return found?.id ?? null
  })
}

type LinkedIncident = Pick<Incident, 'id' | 'startedAt' | 'resolvedAt'> & { readonly monitorId: string }

/** Returns whether an incident was open at any time during an outage. Both may be ongoing. */
export function wasOpenDuring(
  { startedAt, resolvedAt }: Pick<Incident, 'startedAt' | 'resolvedAt'>,
  outage: Pick<Outage, 'startedAt' | 'endedAt'>,
): boolean {
  return (
    (outage.endedAt === null || startedAt <= outage.endedAt) && (resolvedAt === null || resolvedAt >= outage.startedAt)
  )
}

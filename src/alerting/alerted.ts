import type { Database } from '../core/context.ts'
import { plainRows } from '../database/sql-transaction.ts'
import type { AlertChannelKind } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** Channels that are read per reading. */
export const MAX_ALERTED = 50

/** An alert channel that was told of an alert of an incident’s monitors. */
export interface AlertedChannel {
  readonly incidentId: string
  readonly channelId: string
  readonly name: string
  readonly kind: AlertChannelKind
  /** When it was first told. */
  readonly notifiedAt: Date
}

/**
 * Reads which alert channels were told of the alerts of incidents' monitors while these were part of the incident, in the order in
 * which they were, as long as alerts are kept. Their caller is of the organization. Runs one statement.
 */
export async function readAlertedChannels(db: Database, incidentIds: readonly string[]): Promise<AlertedChannel[]> {
  if (incidentIds.length === 0) return []
  return plainRows<AlertedChannel>(
    db,
    Prisma.sql`
      SELECT link."incidentId", channel.id AS "channelId", channel.name, channel.kind, min(recipient."notifiedAt") AS "notifiedAt"
      FROM "IncidentMonitor" AS link
      JOIN "Incident" AS incident ON incident.id = link."incidentId"
      JOIN "Alert" AS alert ON alert."organizationId" = incident."organizationId" AND alert."monitorId" = link."monitorId"
        AND (alert."endedAt" IS NULL OR alert."endedAt" >= link."joinedAt")
        AND (link."leftAt" IS NULL OR alert."openedAt" <= link."leftAt")
      JOIN "AlertRecipient" AS recipient ON recipient."alertId" = alert.id
      JOIN "AlertChannel" AS channel ON channel.id = recipient."channelId"
      WHERE link."incidentId" = ANY(${[...incidentIds]}::text[])
      GROUP BY link."incidentId", channel.id ORDER BY "notifiedAt", channel.id LIMIT ${MAX_ALERTED}`,
  )
}

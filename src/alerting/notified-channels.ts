import type { Database } from '../core/context.ts'
import { plainRows } from '../database/sql-transaction.ts'
import type { AlertChannelKind } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** The maximum number of channels that one query returns. */
export const MAX_NOTIFIED = 50

/** An alert channel that was notified of an alert of an incident’s monitors. */
export interface NotifiedChannel {
  readonly incidentId: string
  readonly channelId: string
  readonly name: string
  readonly kind: AlertChannelKind
  /** When it was first notified. */
  readonly notifiedAt: Date
}

/**
 * Reads the alert channels that were notified of alerts of incidents' monitors while these belonged to the incident, in the order
 * of notification, for as long as alerts are kept. The caller must belong to the organization. Runs one statement.
 */
export async function readNotifiedChannels(db: Database, incidentIds: readonly string[]): Promise<NotifiedChannel[]> {
  if (incidentIds.length === 0) return []
  return plainRows<NotifiedChannel>(
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
      GROUP BY link."incidentId", channel.id ORDER BY "notifiedAt", channel.id LIMIT ${MAX_NOTIFIED}`,
  )
}

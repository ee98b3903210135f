import type { Database } from '../core/context.ts'
import { plainRows } from '../database/transaction.ts'
import type { AlertChannelKind } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { incidentMonitors, incidents } from '../status/views.ts'

/** The maximum number of channels that are returned for an incident. */
export const MAX_ALERTED = 50

/** An alert channel that was notified of an alert of an incident’s monitors. */
export interface AlertedChannel {
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
export async function readAlertedChannels(db: Database, incidentIds: readonly string[]): Promise<AlertedChannel[]> {
  if (incidentIds.length === 0) return []
  return plainRows<AlertedChannel>(
    db,
    Prisma.sql`
      SELECT "incidentId", "channelId", name, kind, "notifiedAt"
      FROM (
        SELECT link."incidentId", channel.id AS "channelId", channel.name, channel.kind,
          min(recipient."notifiedAt") AS "notifiedAt",
          row_number() OVER (PARTITION BY link."incidentId" ORDER BY min(recipient."notifiedAt"), channel.id) AS position
        FROM ${incidentMonitors} AS link
        JOIN ${incidents} AS incident ON incident.id = link."incidentId"
        JOIN "Alert" AS alert ON alert."organizationId" = incident."organizationId" AND alert."monitorId" = link."monitorId"
          AND (alert."endedAt" IS NULL OR alert."endedAt" >= link."joinedAt")
          AND (link."leftAt" IS NULL OR alert."openedAt" <= link."leftAt")
        JOIN "AlertRecipient" AS recipient ON recipient."alertId" = alert.id
        JOIN "AlertChannel" AS channel ON channel.id = recipient."channelId"
        WHERE link."incidentId" = ANY(${[...incidentIds]}::text[])
        GROUP BY link."incidentId", channel.id
      ) AS alerted
      WHERE position <= ${MAX_ALERTED} ORDER BY "notifiedAt", "channelId"`,
  )
}

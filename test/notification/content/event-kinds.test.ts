import { expect, test } from 'vitest'
import type { Context } from '../../../src/core/context.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import type { Event } from '../../../src/generated/prisma/client.ts'
import type { EventKind } from '../../../src/generated/prisma/enums.ts'
import { notificationContent } from '../../../src/notification/content/content.ts'
import { buildNotification } from '../../../src/notification/content/payload.ts'
import { buildPush } from '../../../src/notification/push/content.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { publishPostmortem, savePostmortem } from '../../../src/status/incident/postmortem.ts'
import {
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()

/**
 * The notifications of an event. Subscribers: the headline, its tone, the type and topic, and the number of affected
 * services. Members in their browsers: the text. Null: none.
 */
type Notified = readonly [subscribers: string | null, browsers: string | null]

/**
 * The notifications of each kind of event in the scenario below; null: no one is notified. A new kind does not compile
 * without a row.
 */
const rows: Readonly<Record<EventKind, readonly Notified[] | null>> = {
  PAGE_UPDATED: null,
  PAGE_CREATED: null,
  PAGE_DELETED: null,
  PAGE_ACCESS_CHANGED: null,
  PAGE_TOKEN_CREATED: null,
  PAGE_TOKEN_REVOKED: null,
  SERVICE_GROUP_CREATED: null,
  SERVICE_GROUP_UPDATED: null,
  SERVICE_GROUP_DELETED: null,
  SERVICE_GROUPS_REORDERED: null,
  SERVICE_CREATED: null,
  SERVICE_UPDATED: null,
  SERVICE_DELETED: null,
  SERVICES_REORDERED: null,
  SERVICE_STATUS_CHANGED: [
    ['Degraded performance: Shop (minor), service.status_changed for SERVICE_STATUS, 1', null],
    ['No status yet: Shop (neutral), service.status_changed for SERVICE_STATUS, 1', null],
  ],
  SERVICE_UNKNOWN: null,
  SERVICE_KNOWN: null,
  INCIDENT_CREATED: [
    ['Investigating: Slow (major), incident.created for INCIDENTS, 1', 'Incident opened with major impact.'],
  ],
  INCIDENT_UPDATED: null,
  INCIDENT_UPDATE_POSTED: [
    ['Identified: Slow (major), incident.updated for INCIDENTS, 1', null],
    ['Resolved: Slow (good), incident.resolved for INCIDENTS, 1', 'Incident resolved.'],
  ],
  INCIDENT_UPDATE_EDITED: null,
  INCIDENT_DELETED: null,
  INCIDENT_BACKFILLED: null,
  INCIDENT_UPDATE_BACKFILLED: null,
  INCIDENT_UPDATE_DELETED: null,
  INCIDENT_DRAFTED: null,
  INCIDENT_DRAFT_UPDATED: null,
  INCIDENT_DISMISSED: null,
  INCIDENT_MERGED: null,
  INCIDENT_NOTE_ADDED: null,
  INCIDENT_NOTE_EDITED: null,
  INCIDENT_NOTE_DELETED: null,
  INCIDENT_FILE_ADDED: null,
  INCIDENT_FILE_DELETED: null,
  INCIDENT_LEAD_CHANGED: null,
  POSTMORTEM_DRAFTED: null,
  POSTMORTEM_PUBLISHED: [['Post-mortem: Slow (neutral), incident.postmortem for INCIDENTS, 1', null]],
  POSTMORTEM_UPDATED: null,
  POSTMORTEM_WITHDRAWN: null,
  POSTMORTEM_REVIEW_REQUESTED: null,
  POSTMORTEM_REVIEWED: null,
  POSTMORTEM_REVIEW_CANCELLED: null,
  MAINTENANCE_SCHEDULED: [
    ['Maintenance scheduled: New disks (planned), maintenance.scheduled for MAINTENANCES, 1', null],
    ['Maintenance scheduled: New racks (planned), maintenance.scheduled for MAINTENANCES, 0', null],
  ],
  MAINTENANCE_UPDATED: null,
  MAINTENANCE_UPDATE_POSTED: [
    ['Maintenance update: New disks (planned), maintenance.updated for MAINTENANCES, 1', null],
  ],
  MAINTENANCE_RESCHEDULED: [
    ['Maintenance rescheduled: New disks (planned), maintenance.rescheduled for MAINTENANCES, 1', null],
  ],
  MAINTENANCE_STARTED: [['Maintenance started: New disks (planned), maintenance.started for MAINTENANCES, 1', null]],
  MAINTENANCE_COMPLETED: [['Maintenance completed: New disks (good), maintenance.completed for MAINTENANCES, 1', null]],
  MAINTENANCE_CANCELLED: [
    ['Maintenance cancelled: New racks (planned), maintenance.cancelled for MAINTENANCES, 0', null],
  ],
  MAINTENANCE_UPDATE_EDITED: null,
  MAINTENANCE_UPDATE_DELETED: null,
  MAINTENANCE_DELETED: null,
  MAINTENANCE_SERIES_CREATED: null,
  MAINTENANCE_SERIES_UPDATED: null,
  MAINTENANCE_SERIES_ENDED: null,
  MAINTENANCE_SERIES_DELETED: null,
  MONITOR_CREATED: null,
  MONITOR_UPDATED: null,
  MONITOR_PAUSED: null,
  MONITOR_RESUMED: null,
  MONITOR_DELETED: null,
  MONITOR_STATE_CHANGED: null,
  MONITOR_UNKNOWN: null,
  MONITOR_KNOWN: null,
  ORGANIZATION_CREATED: null,
  ORGANIZATION_DELETED: null,
  ORGANIZATION_RESTORED: null,
  MEMBER_INVITED: null,
  MEMBER_JOINED: null,
  MEMBER_ROLE_CHANGED: null,
  MEMBER_REMOVED: null,
  MEMBER_KEYS_KEPT: null,
  INVITATION_REVOKED: null,
  API_KEY_CREATED: null,
  API_KEY_REVOKED: null,
  TIER_CHANGED: null,
  CHECK_PLAN_CHANGED: null,
  SUBSCRIBERS_IMPORTED: null,
  HISTORY_IMPORTED: null,
  SUBSCRIBER_DELETED: null,
  ALERT_CHANNEL_CREATED: null,
  ALERT_CHANNEL_UPDATED: null,
  ALERT_CHANNEL_DELETED: null,
  ALERT_CHANNEL_TESTED: null,
  ALERT_OPENED: null,
  ALERT_REMINDED: null,
  ALERT_ESCALATED: null,
  ALERT_ACKNOWLEDGED: null,
  ALERT_ENDED: null,
  INTEGRATION_CREATED: null,
  INTEGRATION_UPDATED: null,
  INTEGRATION_DELETED: null,
  INCOMING_ALERT_REFUSED: null,
  TEMPLATE_CREATED: null,
  TEMPLATE_UPDATED: null,
  TEMPLATE_DELETED: null,
  OBJECTIVE_CREATED: null,
  OBJECTIVE_UPDATED: null,
  OBJECTIVE_DELETED: null,
  OBJECTIVE_BURNING: null,
  OBJECTIVE_RECOVERED: null,
  MANAGED_OBJECT_LOCKED: null,
  MANAGED_OBJECT_UNLOCKED: null,
  PRIVATE_TARGETS_ALLOWED: null,
  PRIVATE_TARGETS_WITHDRAWN: null,
  UPTIME_CORRECTED: null,
  UPTIME_CORRECTION_DELETED: null,
  REPORT_CREATED: [['Report for October 2026 (neutral), report.created for REPORTS, 0', null]],
}

const owner = { name: 'Acme', slug: 'acme' }
const shownPage = { ...owner, timeZone: 'UTC', customDomain: null, accentColor: '#ffdd00', logoUrl: null }

/** The notification of subscribers about an event, or null. */
async function subscriberNotificationOf(event: Event): Promise<string | null> {
  const built = await buildNotification(prisma, event)
  if (built === null) return null
  const { headline, tone, event: sent } = notificationContent(built.payload, shownPage, 'https://a.example', 'EN')
  return `${headline} (${tone}), ${sent.type} for ${built.topic}, ${built.serviceIds.length}`
}

async function notifiedBy(event: Event): Promise<Notified> {
  return [await subscriberNotificationOf(event), (await buildPush(prisma, owner, event))?.content.body ?? null]
}

/** Causes one event of each announced kind. Returns the events with their notifications at that time. */
async function causeEvents(): Promise<readonly { readonly event: Event; readonly notified: Notified }[]> {
  const acme = await tenantsOf(prisma)()
  const [shop = ''] = await acme.services('Shop')
  const seen: { event: Event; notified: Notified }[] = []
  let minutes = 0
  /** Does something a minute later, and returns the notifications of its events. */
  async function then<T>(work: (ctx: Context) => Promise<T>): Promise<T> {
    minutes += 1
    const result = await work(acme.later(minutes * MINUTE))
    for (const event of (await acme.events()).slice(seen.length))
      seen.push({ event, notified: await notifiedBy(event) })
    return result
  }
  const services = [{ serviceId: shop, status: 'PARTIAL_OUTAGE' }]
  const opened = { title: 'Slow', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.', services }
  const { id: incidentId } = await then((ctx) => createIncident(ctx, opened))
  await then((ctx) => postIncidentUpdate(ctx, { incidentId, status: 'IDENTIFIED', message: 'A disk.' }))
  await then((ctx) => postIncidentUpdate(ctx, { incidentId, status: 'RESOLVED', message: 'Well again.' }))
  await then((ctx) => savePostmortem(ctx, { incidentId, message: 'A disk was full.' }))
  await then((ctx) => publishPostmortem(ctx, { incidentId }))
  const at = (hour: number) => new Date(noon.getTime() + hour * 60 * MINUTE)
  const planned = { title: 'New disks', message: 'So.', startsAt: at(5), endsAt: at(6), serviceIds: [shop] }
  const { id } = await then((ctx) => scheduleMaintenance(ctx, planned))
  await then((ctx) => updateMaintenance(ctx, { id, endsAt: at(7) }))
  await then((ctx) => updateMaintenance(ctx, { id, message: 'As planned.' }))
  await then((ctx) => updateMaintenance(ctx, { id, status: 'IN_PROGRESS' }))
  await then((ctx) => updateMaintenance(ctx, { id, status: 'COMPLETED' }))
  const other = await then((ctx) => scheduleMaintenance(ctx, { ...planned, title: 'New racks', serviceIds: [] }))
  await then((ctx) => cancelMaintenance(ctx, { id: other.id, message: 'Not needed.' }))
  // As a monitor of the service does.
  await prisma.service.update({ where: { id: shop }, data: { statusOverride: 'DEGRADED_PERFORMANCE' } })
  const statusChanged = { kind: 'SERVICE_STATUS_CHANGED', subjectId: shop, subjectName: 'Shop' } as const
  await then((ctx) => change(ctx, acme.id, async () => [undefined, statusChanged]))
  // As when its last monitor is deleted, and nobody has stated a status.
  await prisma.service.update({ where: { id: shop }, data: { statusOverride: null, statedAt: null } })
  await then((ctx) => change(ctx, acme.id, async () => [undefined, statusChanged]))
  const page = await prisma.page.findFirstOrThrow({ where: { organizationId: acme.id } })
  const figures = { id: shop, name: 'Shop', percent: 99.5, downMs: 60_000, maintenanceMs: 0 }
  const content = { consolePath: '/console', services: [figures], incidents: 1, recoveryMs: null }
  await prisma.pageReport.create({ data: { pageId: page.id, month: '2026-10', content, createdAt: noon } })
  const complete = { kind: 'REPORT_CREATED', subjectId: page.id, subjectName: 'Acme', reportMonth: '2026-10' } as const
  await then((ctx) => change(ctx, acme.id, async () => [undefined, complete]))
  return seen
}

const seen = await causeEvents()

test.each(Object.entries(rows) as [EventKind, Notified[] | null][])('%s', async (kind, notified) => {
  const own = seen.filter(({ event }) => event.kind === kind)
  if (notified !== null) return expect(own.map((each) => each.notified)).toEqual(notified)
  // Everything else, including what other kinds announce.
  for (const { event } of seen) expect(await notifiedBy({ ...event, kind })).toEqual([null, null])
})

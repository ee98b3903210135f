import { EventKind } from '../generated/prisma/enums.ts'

/**
 * The audiences of events, besides the readers of the organization's log:
 * - `page`: the public page shows the change
 * - `subscribers`: subscribers are notified
 * - `browsers`: members are notified in their browsers. Alerts reach browsers through alert channels instead
 * - `alerts`: the event can open, change or end an alert
 * - `probes`: the event can make probes due, or end the staleness of a monitor
 */
export type Audience = 'page' | 'subscribers' | 'browsers' | 'alerts' | 'probes'

/**
 * The audiences of each kind of event. A new kind does not compile until its audiences are listed here, and until the
 * rooms of these audiences handle it (`KindFor`). Only the organization sees events of access, billing and monitoring.
 */
const audiences = {
  PAGE_UPDATED: ['page'],
  // Other pages do not show that a page was created.
  PAGE_CREATED: [],
  PAGE_DELETED: [],
  PAGE_ACCESS_CHANGED: [],
  PAGE_TOKEN_CREATED: [],
  PAGE_TOKEN_REVOKED: [],
  SERVICE_GROUP_CREATED: ['page'],
  SERVICE_GROUP_UPDATED: ['page'],
  SERVICE_GROUP_DELETED: ['page'],
  SERVICE_GROUPS_REORDERED: ['page'],
  SERVICE_CREATED: ['page'],
  SERVICE_UPDATED: ['page'],
  SERVICE_DELETED: ['page', 'alerts', 'probes'],
  SERVICES_REORDERED: ['page'],
  SERVICE_STATUS_CHANGED: ['page', 'subscribers'],
  SERVICE_UNKNOWN: ['page'],
  SERVICE_KNOWN: ['page'],
  INCIDENT_CREATED: ['page', 'subscribers', 'browsers'],
  INCIDENT_UPDATED: ['page'],
  INCIDENT_UPDATE_POSTED: ['page', 'subscribers', 'browsers'],
  INCIDENT_UPDATE_EDITED: ['page'],
  INCIDENT_DELETED: ['page'],
  INCIDENT_BACKFILLED: ['page'],
  INCIDENT_UPDATE_BACKFILLED: ['page'],
  INCIDENT_UPDATE_DELETED: ['page'],
  INCIDENT_DRAFTED: [],
  INCIDENT_DRAFT_UPDATED: [],
  INCIDENT_DISMISSED: [],
  INCIDENT_MERGED: ['page'],
  INCIDENT_NOTE_ADDED: [],
  INCIDENT_NOTE_EDITED: [],
  INCIDENT_NOTE_DELETED: [],
  INCIDENT_FILE_ADDED: [],
  INCIDENT_FILE_DELETED: [],
  INCIDENT_LEAD_CHANGED: [],
  POSTMORTEM_DRAFTED: [],
  POSTMORTEM_PUBLISHED: ['page', 'subscribers'],
  POSTMORTEM_UPDATED: ['page'],
  POSTMORTEM_WITHDRAWN: ['page'],
  POSTMORTEM_REVIEW_REQUESTED: [],
  POSTMORTEM_REVIEWED: [],
  POSTMORTEM_REVIEW_CANCELLED: [],
  MAINTENANCE_SCHEDULED: ['page', 'subscribers'],
  MAINTENANCE_UPDATED: ['page'],
  MAINTENANCE_UPDATE_POSTED: ['page', 'subscribers'],
  MAINTENANCE_RESCHEDULED: ['page', 'subscribers'],
  MAINTENANCE_STARTED: ['page', 'subscribers'],
  MAINTENANCE_COMPLETED: ['page', 'subscribers'],
  MAINTENANCE_CANCELLED: ['page', 'subscribers'],
  MAINTENANCE_UPDATE_EDITED: ['page'],
  MAINTENANCE_UPDATE_DELETED: ['page'],
  MAINTENANCE_DELETED: ['page'],
  MAINTENANCE_SERIES_CREATED: [],
  MAINTENANCE_SERIES_UPDATED: [],
  MAINTENANCE_SERIES_ENDED: [],
  MAINTENANCE_SERIES_DELETED: [],
  MONITOR_CREATED: ['probes'],
  MONITOR_UPDATED: ['alerts', 'probes'],
  MONITOR_PAUSED: ['alerts', 'probes'],
  MONITOR_RESUMED: ['probes'],
  MONITOR_DELETED: ['alerts', 'probes'],
  MONITOR_STATE_CHANGED: ['alerts', 'probes'],
  MONITOR_UNKNOWN: ['alerts', 'probes'],
  MONITOR_KNOWN: ['alerts', 'probes'],
  ORGANIZATION_CREATED: [],
  ORGANIZATION_DELETED: ['probes'],
  ORGANIZATION_RESTORED: ['probes'],
  MEMBER_INVITED: [],
  MEMBER_JOINED: [],
  MEMBER_ROLE_CHANGED: [],
  MEMBER_REMOVED: [],
  MEMBER_KEYS_KEPT: [],
  INVITATION_REVOKED: [],
  API_KEY_CREATED: [],
  API_KEY_REVOKED: [],
  TIER_CHANGED: ['probes'],
  CHECK_PLAN_CHANGED: ['probes'],
  SUBSCRIBERS_IMPORTED: [],
  HISTORY_IMPORTED: [],
  SUBSCRIBER_DELETED: [],
  ALERT_CHANNEL_CREATED: [],
  ALERT_CHANNEL_UPDATED: [],
  ALERT_CHANNEL_DELETED: [],
  ALERT_CHANNEL_TESTED: [],
  ALERT_OPENED: [],
  ALERT_REMINDED: [],
  ALERT_ESCALATED: [],
  ALERT_ACKNOWLEDGED: [],
  ALERT_ENDED: [],
  INTEGRATION_CREATED: [],
  INTEGRATION_UPDATED: [],
  INTEGRATION_DELETED: [],
  INCOMING_ALERT_REFUSED: [],
  TEMPLATE_CREATED: [],
  TEMPLATE_UPDATED: [],
  TEMPLATE_DELETED: [],
  OBJECTIVE_CREATED: [],
  OBJECTIVE_UPDATED: [],
  OBJECTIVE_DELETED: ['alerts'],
  OBJECTIVE_BURNING: ['alerts'],
  OBJECTIVE_RECOVERED: ['alerts'],
  MANAGED_OBJECT_LOCKED: [],
  MANAGED_OBJECT_UNLOCKED: [],
  PRIVATE_TARGETS_ALLOWED: ['probes'],
  PRIVATE_TARGETS_WITHDRAWN: ['probes'],
  UPTIME_CORRECTED: [],
  UPTIME_CORRECTION_DELETED: [],
  REPORT_CREATED: ['subscribers'],
} as const satisfies Readonly<Record<EventKind, readonly Audience[]>>

/** The kinds of events for an audience. */
export type KindFor<A extends Audience> = {
  [Kind in EventKind]: A extends (typeof audiences)[Kind][number] ? Kind : never
}[EventKind]

/** Returns whether events of a kind are for an audience. */
export function isFor<A extends Audience>(audience: A, kind: EventKind): kind is KindFor<A> {
  const all: readonly Audience[] = audiences[kind]
  return all.includes(audience)
}

/** The kinds of events that change the public page. */
export const publicKinds: readonly EventKind[] = Object.values(EventKind).filter((kind) => isFor('page', kind))

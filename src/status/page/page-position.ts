import { isFor } from '../../event-log/audience.ts'
import type { NewestEventJson } from '../../event-log/newest-events.ts'
import type { EventKind } from '../../generated/prisma/enums.ts'

/** The newest positions in an organization's log at which the content of its page may have changed. */
export interface PagePosition {
  /** Of any part of the page. */
  readonly page: number
  /** Of the days of its services, which incidents do not change. */
  readonly days: number
}

/**
 * Events that do not change the page: about access, the check plan, subscribers, alerts, objectives, and private work
 * on incidents.
 */
const unseen: ReadonlySet<EventKind> = new Set<EventKind>([
  'ALERT_ACKNOWLEDGED',
  'ALERT_CHANNEL_CREATED',
  'ALERT_CHANNEL_DELETED',
  'ALERT_CHANNEL_TESTED',
  'ALERT_CHANNEL_UPDATED',
  'ALERT_ENDED',
  'ALERT_ESCALATED',
  'ALERT_OPENED',
  'ALERT_REMINDED',
  'API_KEY_CREATED',
  'API_KEY_REVOKED',
  'CHECK_PLAN_CHANGED',
  'INCIDENT_FILE_ADDED',
  'INCIDENT_FILE_DELETED',
  'INCIDENT_LEAD_CHANGED',
  'INCIDENT_NOTE_ADDED',
  'INCIDENT_NOTE_DELETED',
  'INCIDENT_NOTE_EDITED',
  'INCOMING_ALERT_REFUSED',
  'MANAGED_OBJECT_LOCKED',
  'MANAGED_OBJECT_UNLOCKED',
  'OBJECTIVE_BURNING',
  'OBJECTIVE_CREATED',
  'OBJECTIVE_DELETED',
  'OBJECTIVE_RECOVERED',
  'OBJECTIVE_UPDATED',
  'PAGE_ACCESS_CHANGED',
  'PAGE_TOKEN_CREATED',
  'PAGE_TOKEN_REVOKED',
  'POSTMORTEM_DRAFTED',
  'POSTMORTEM_REVIEWED',
  'POSTMORTEM_REVIEW_CANCELLED',
  'POSTMORTEM_REVIEW_REQUESTED',
  'REPORT_CREATED',
  'SUBSCRIBERS_IMPORTED',
  'SUBSCRIBER_DELETED',
  'UPTIME_CORRECTED',
  'UPTIME_CORRECTION_DELETED',
])

const changesPage = (kind: EventKind) => !unseen.has(kind)
const changesDays = (kind: EventKind) => changesPage(kind) && !kind.startsWith('INCIDENT_')

/** Returns the position of a page from the newest event of each kind. */
export function pagePosition(newest: readonly NewestEventJson[]): PagePosition {
  const last = (changes: (kind: EventKind) => boolean) =>
    newest.reduce((position, [kind, seq]) => (changes(kind) ? Math.max(position, seq) : position), 0)
  return { page: last(changesPage), days: last(changesDays) }
}

/** Returns the time of the newest public event, or null. */
export function publicChangeTime(newest: readonly NewestEventJson[]): Date | null {
  const found = newest.filter(([kind]) => isFor('page', kind)).toSorted((one, other) => other[1] - one[1])
  return found[0] === undefined ? null : new Date(found[0][2])
}

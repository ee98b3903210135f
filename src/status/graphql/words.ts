import {
  ActorKind,
  EventKind,
  IncidentImpact,
  IncidentStatus,
  MaintenanceStatus,
  ServiceStatus,
} from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import type { Indicator } from '../shown-status.ts'

builder.enumType(ServiceStatus, {
  name: 'ServiceStatus',
  description: 'How a service is doing.',
  values: describedValues({
    DEGRADED_PERFORMANCE: 'Working, but slowly or with errors.',
    MAJOR_OUTAGE: 'Down for everyone.',
    OPERATIONAL: 'Working.',
    PARTIAL_OUTAGE: 'Down for some.',
    UNDER_MAINTENANCE: 'Under planned maintenance.',
  }),
})
builder.enumType(IncidentStatus, {
  name: 'IncidentStatus',
  description: 'How far an incident has come.',
  values: describedValues({
    IDENTIFIED: 'The cause is known.',
    INVESTIGATING: 'The cause is being looked for.',
    MONITORING: 'A fix is in place and being watched.',
    RESOLVED: 'It is over.',
  }),
})
builder.enumType(IncidentImpact, {
  name: 'IncidentImpact',
  description: 'How bad an incident is as a whole.',
  values: describedValues({
    CRITICAL: 'Most of what the organization runs is down.',
    MAJOR: 'Something important is down.',
    MINOR: 'Something is slower or partly unusable.',
    NONE: 'Nobody should notice.',
  }),
})
builder.enumType(MaintenanceStatus, {
  name: 'MaintenanceStatus',
  description: 'How far a maintenance has come.',
  values: describedValues({
    CANCELLED: 'It was called off.',
    COMPLETED: 'It is over.',
    IN_PROGRESS: 'The work is under way.',
    SCHEDULED: 'It is announced and has not started.',
    VERIFYING: 'The work is done and being checked.',
  }),
})
/** What each kind of event says happened. */
export const eventKinds = describedValues<EventKind>({
  PAGE_UPDATED: 'The page’s settings changed.',
  SERVICE_GROUP_CREATED: 'A group was created.',
  SERVICE_GROUP_UPDATED: 'A group’s name or description changed.',
  SERVICE_GROUP_DELETED: 'A group was deleted.',
  SERVICE_GROUPS_REORDERED: 'The groups were reordered.',
  SERVICE_CREATED: 'A service was created.',
  SERVICE_UPDATED: 'A service’s name, description or group changed.',
  SERVICE_DELETED: 'A service was deleted.',
  SERVICES_REORDERED: 'The services were reordered.',
  SERVICE_STATUS_CHANGED: 'The status a service shows changed.',
  SERVICE_UNKNOWN: 'All monitors of a service are silent: nothing is known of it any more.',
  SERVICE_KNOWN: 'A monitor of a service is no longer silent, or none is left that is.',
  INCIDENT_CREATED: 'An incident was created.',
  INCIDENT_UPDATED: 'An incident’s title, impact, services or times changed.',
  INCIDENT_UPDATE_POSTED: 'An incident got another update.',
  INCIDENT_UPDATE_EDITED: 'An incident update was edited.',
  INCIDENT_DELETED: 'An incident was deleted.',
  INCIDENT_BACKFILLED: 'A past incident was added for the record.',
  INCIDENT_UPDATE_BACKFILLED: 'An incident got an update before another one.',
  INCIDENT_UPDATE_DELETED: 'An incident update was deleted.',
  MAINTENANCE_SCHEDULED: 'A maintenance was scheduled.',
  MAINTENANCE_UPDATED: 'A maintenance’s title or services changed.',
  MAINTENANCE_UPDATE_POSTED: 'A maintenance got another update.',
  MAINTENANCE_RESCHEDULED: 'A maintenance was moved to another time.',
  MAINTENANCE_STARTED: 'A maintenance started.',
  MAINTENANCE_COMPLETED: 'A maintenance ended.',
  MAINTENANCE_CANCELLED: 'A maintenance was cancelled.',
  MAINTENANCE_UPDATE_EDITED: 'A maintenance update was edited.',
  MAINTENANCE_UPDATE_DELETED: 'A maintenance update was deleted.',
  MAINTENANCE_DELETED: 'A maintenance was deleted.',
  MONITOR_CREATED: 'A monitor was created.',
  MONITOR_UPDATED: 'A monitor’s settings changed.',
  MONITOR_PAUSED: 'A monitor was paused.',
  MONITOR_RESUMED: 'A monitor was resumed.',
  MONITOR_DELETED: 'A monitor was deleted.',
  MONITOR_STATE_CHANGED: 'A monitor’s state changed.',
  MONITOR_UNKNOWN: 'A monitor fell silent: nothing is known of it any more.',
  MONITOR_KNOWN: 'A monitor is no longer silent.',
  ORGANIZATION_CREATED: 'The organization was created.',
  ORGANIZATION_DELETED: 'The organization was deleted.',
  ORGANIZATION_RESTORED: 'The operator restored the organization.',
  API_KEY_CREATED: 'An API key was created.',
  API_KEY_REVOKED: 'An API key was revoked.',
  TIER_CHANGED: 'The tier changed.',
  CHECK_PLAN_CHANGED: 'The check plan changed.',
  SUBSCRIBERS_IMPORTED: 'Subscribers were imported.',
  SUBSCRIBER_DELETED: 'A subscriber was deleted.',
})
builder.enumType(EventKind, { name: 'EventKind', description: 'What an event says happened.', values: eventKinds })
builder.enumType(ActorKind, {
  name: 'ActorKind',
  description: 'Who did something.',
  values: describedValues({
    API_KEY: 'A holder of one of the organization’s keys.',
    OPERATOR: 'The operator of this service.',
    SYSTEM: 'The service itself, such as a monitor or a schedule.',
    VISITOR: 'Someone without a key.',
  }),
})

/** How a page as a whole is doing. */
export const StatusIndicator = builder.enumType('StatusIndicator', {
  description: 'How a page as a whole is doing.',
  values: describedValues<Indicator>({
    CRITICAL: 'A critical incident or outage.',
    MAINTENANCE: 'Only maintenance is running.',
    MAJOR: 'A major incident or outage.',
    MINOR: 'A minor incident or degraded performance.',
    NONE: 'All is well.',
  }),
})

/** The order of things that have a time. */
export const TimeOrder = builder.enumType('TimeOrder', {
  description: 'The order of things that have a time.',
  values: {
    NEWEST_FIRST: { value: 'desc', description: 'Newest first.' },
    OLDEST_FIRST: { value: 'asc', description: 'Oldest first.' },
  } as const,
})

import {
  ActorKind,
  EventKind,
  IncidentImpact,
  IncidentStatus,
  IncidentVisibility,
  MaintenanceStatus,
  ServiceStatus,
} from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import type { Indicator } from '../shown-status.ts'

builder.enumType(ServiceStatus, {
  name: 'ServiceStatus',
  description: 'The status of a service.',
  values: describedValues({
    DEGRADED_PERFORMANCE: 'Working, but slowly or with errors.',
    MAJOR_OUTAGE: 'Down for all users.',
    OPERATIONAL: 'Working.',
    PARTIAL_OUTAGE: 'Down for some users.',
    UNDER_MAINTENANCE: 'Under planned maintenance.',
  }),
})
builder.enumType(IncidentStatus, {
  name: 'IncidentStatus',
  description: 'The status of an incident.',
  values: describedValues({
    IDENTIFIED: 'The cause is known.',
    INVESTIGATING: 'The cause is being investigated.',
    MONITORING: 'A fix is in place and being monitored.',
    RESOLVED: 'The problem is fixed.',
  }),
})
builder.enumType(IncidentImpact, {
  name: 'IncidentImpact',
  description: 'The overall impact of an incident.',
  values: describedValues({
    CRITICAL: 'Most services are down.',
    MAJOR: 'An important service is down.',
    MINOR: 'A service is slow or partly unusable.',
    NONE: 'No noticeable effect.',
  }),
})
builder.enumType(IncidentVisibility, {
  name: 'IncidentVisibility',
  description: 'Who sees an incident.',
  values: describedValues({
    DRAFT: 'Its organization only: it is not published yet.',
    PUBLIC: 'Everybody who may read a page that shows it.',
    SUGGESTED: 'Its organization only: an alert proposes it.',
  }),
})
builder.enumType(MaintenanceStatus, {
  name: 'MaintenanceStatus',
  description: 'The status of a maintenance.',
  values: describedValues({
    CANCELLED: 'The maintenance was cancelled.',
    COMPLETED: 'The maintenance is over.',
    IN_PROGRESS: 'The work is in progress.',
    SCHEDULED: 'The maintenance has not started.',
    VERIFYING: 'The work is done and being verified.',
  }),
})
/** The kinds of events with their descriptions. */
export const eventKinds = describedValues<EventKind>({
  PAGE_UPDATED: 'The page’s settings changed.',
  PAGE_CREATED: 'Another page was created.',
  PAGE_DELETED: 'A page was deleted, with its domain and subscribers.',
  PAGE_ACCESS_CHANGED: 'Who may read the page changed.',
  PAGE_TOKEN_CREATED: 'A read token of the page was created.',
  PAGE_TOKEN_REVOKED: 'A read token of the page was revoked.',
  SERVICE_GROUP_CREATED: 'A group was created.',
  SERVICE_GROUP_UPDATED: 'A group’s name or description changed.',
  SERVICE_GROUP_DELETED: 'A group was deleted.',
  SERVICE_GROUPS_REORDERED: 'The groups were reordered.',
  SERVICE_CREATED: 'A service was created.',
  SERVICE_UPDATED: 'A service’s name, description or group changed.',
  SERVICE_DELETED: 'A service was deleted.',
  SERVICES_REORDERED: 'The services were reordered.',
  SERVICE_STATUS_CHANGED: 'A service’s shown status changed.',
  SERVICE_UNKNOWN: 'No monitor of a service knows anything yet, or any more: its status is unknown.',
  SERVICE_KNOWN: 'A service’s monitors report, or it has no monitors left.',
  INCIDENT_CREATED: 'An incident was created.',
  INCIDENT_UPDATED: 'An incident’s title, impact, services or times changed.',
  INCIDENT_UPDATE_POSTED: 'An update was posted to an incident.',
  INCIDENT_UPDATE_EDITED: 'An incident update was edited.',
  INCIDENT_DELETED: 'An incident was deleted.',
  INCIDENT_BACKFILLED: 'A past incident was recorded.',
  INCIDENT_UPDATE_BACKFILLED: 'A past update was added to an incident.',
  INCIDENT_UPDATE_DELETED: 'An incident update was deleted.',
  INCIDENT_DRAFTED: 'An incident was drafted, or suggested by an alert.',
  INCIDENT_DRAFT_UPDATED: 'A draft or suggestion of an incident changed.',
  INCIDENT_DISMISSED: 'A draft or suggestion of an incident was dismissed.',
  MAINTENANCE_SCHEDULED: 'A maintenance was scheduled.',
  MAINTENANCE_UPDATED: 'A maintenance’s title or services changed.',
  MAINTENANCE_UPDATE_POSTED: 'An update was posted to a maintenance.',
  MAINTENANCE_RESCHEDULED: 'A maintenance was rescheduled.',
  MAINTENANCE_STARTED: 'A maintenance started.',
  MAINTENANCE_COMPLETED: 'A maintenance ended.',
  MAINTENANCE_CANCELLED: 'A maintenance was cancelled.',
  MAINTENANCE_UPDATE_EDITED: 'A maintenance update was edited.',
  MAINTENANCE_UPDATE_DELETED: 'A maintenance update was deleted.',
  MAINTENANCE_DELETED: 'A maintenance was deleted.',
  MAINTENANCE_SERIES_CREATED: 'A repeating maintenance was created.',
  MAINTENANCE_SERIES_UPDATED: 'A repeating maintenance changed.',
  MAINTENANCE_SERIES_ENDED: 'A repeating maintenance was ended.',
  MAINTENANCE_SERIES_DELETED: 'A repeating maintenance was deleted.',
  MONITOR_CREATED: 'A monitor was created.',
  MONITOR_UPDATED: 'A monitor’s settings changed.',
  MONITOR_PAUSED: 'A monitor was paused.',
  MONITOR_RESUMED: 'A monitor was resumed.',
  MONITOR_DELETED: 'A monitor was deleted.',
  MONITOR_STATE_CHANGED: 'A monitor’s state changed.',
  MONITOR_UNKNOWN: 'A monitor became silent: its state is unknown.',
  MONITOR_KNOWN: 'A monitor reports again.',
  ORGANIZATION_CREATED: 'The organization was created.',
  ORGANIZATION_DELETED: 'The organization was deleted.',
  ORGANIZATION_RESTORED: 'The operator restored the organization.',
  MEMBER_INVITED: 'A person was invited.',
  MEMBER_JOINED: 'A person became a member.',
  MEMBER_ROLE_CHANGED: 'A member’s role changed.',
  MEMBER_REMOVED: 'A member was removed, or left.',
  INVITATION_REVOKED: 'An invitation was revoked.',
  API_KEY_CREATED: 'An API key was created.',
  API_KEY_REVOKED: 'An API key was revoked.',
  TIER_CHANGED: 'The tier changed.',
  CHECK_PLAN_CHANGED: 'The check plan changed.',
  SUBSCRIBERS_IMPORTED: 'Subscribers were imported.',
  SUBSCRIBER_DELETED: 'A subscriber was deleted.',
  ALERT_CHANNEL_CREATED: 'An alert channel was created.',
  ALERT_CHANNEL_UPDATED: 'An alert channel changed.',
  ALERT_CHANNEL_DELETED: 'An alert channel was deleted.',
  ALERT_ACKNOWLEDGED: 'Somebody acknowledged an alert.',
  INTEGRATION_CREATED: 'An integration was created.',
  INTEGRATION_UPDATED: 'An integration changed.',
  INTEGRATION_DELETED: 'An integration was deleted.',
  TEMPLATE_CREATED: 'A template was created.',
  TEMPLATE_UPDATED: 'A template changed.',
  TEMPLATE_DELETED: 'A template was deleted.',
})
builder.enumType(EventKind, { name: 'EventKind', description: 'The kind of an event.', values: eventKinds })
builder.enumType(ActorKind, {
  name: 'ActorKind',
  description: 'Who performed an action.',
  values: describedValues({
    API_KEY: 'A caller with one of the organization’s API keys.',
    OPERATOR: 'The operator of this service.',
    SYSTEM: 'The service, such as a monitor or a schedule.',
    USER: 'A signed-in person.',
    VISITOR: 'A caller without a key.',
  }),
})

/** The overall status of a page. */
export const StatusIndicator = builder.enumType('StatusIndicator', {
  description: 'The overall status of a page.',
  values: describedValues<Indicator>({
    CRITICAL: 'A critical incident or outage.',
    MAINTENANCE: 'Maintenance is in progress and nothing worse is known.',
    MAJOR: 'A major incident or outage.',
    MINOR: 'A minor incident or degraded performance.',
    NONE: 'All services are operational.',
  }),
})

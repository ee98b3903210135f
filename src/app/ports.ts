import {
  advanceLog,
  isKeyRevoked,
  lockOrganization,
  logEnds,
  markEventsDeleted,
} from '../account/organization/log-head.ts'
import { organizationData } from '../account/organization/organization-data.ts'
import { recordPushOutcome } from '../alerting/alert-deliveries.ts'
import { alertingData } from '../alerting/organization-data.ts'
import { logOwner } from '../event-log/log-owner.ts'
import { moveIncidentAlerts } from '../integration/merged-incident.ts'
import { monitoringData } from '../monitoring/organization-data.ts'
import { forgetUptimeSince } from '../monitoring/uptime/uptime-days.ts'
import { dispatchedUntil } from '../notification/delivery/dispatch-position.ts'
import { notificationData } from '../notification/organization-data.ts'
import { pushOutcomes } from '../notification/push/push-deliveries.ts'
import { moveIncidentFollowers } from '../notification/subscriber/followed-incident.ts'
import { countPageSubscribers } from '../notification/subscriber/subscriber-queries.ts'
import { isSessionOver } from '../people/session-over.ts'
import { followers } from '../status/followers.ts'
import { statusData } from '../status/organization-data.ts'
import { servicesOfSubject } from '../status/services-of-subject.ts'

/** Connects what rooms need from rooms above them. Call it before anything else; a second call changes nothing. */
export function connectPorts(): void {
  logOwner.connect({
    lock: lockOrganization,
    advance: advanceLog,
    markDeleted: markEventsDeleted,
    ends: logEnds,
    isKeyRevoked,
    isSessionOver,
    dispatchedUntil,
    servicesOf: servicesOfSubject,
  })
  organizationData.connect([monitoringData, notificationData, alertingData, statusData])
  followers.connect({
    countSubscribers: countPageSubscribers,
    moveIncident: [moveIncidentFollowers, moveIncidentAlerts],
    forgetUptimeSince,
  })
  pushOutcomes.connect(recordPushOutcome)
}

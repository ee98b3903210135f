/**
 * The tables that each room owns. Only its owner reads and writes a table; other rooms call the owner's functions, or
 * build their statements from the SQL that it exports. What a foreign key deletes or sets to null is its owner's decision.
 */
export const ownedTables: Readonly<Record<string, readonly string[]>> = {
  core: ['IdempotencyKey', 'SealKey'],
  database: ['ClockReading'],
  'event-log': ['Event'],
  account: [
    ...['Organization', 'ApiKey', 'UsageCounter', 'OperatorToken', 'ManagedObject', 'PrivateTargetPermission'],
    ...['Page', 'PageService', 'PageAccess', 'PageToken', 'Logo', 'CustomDomain'],
  ],
  people: [
    ...['User', 'Session', 'Membership', 'Invitation'],
    ...['Passkey', 'Identity', 'RecoveryCode', 'OneTimeToken'],
  ],
  status: [
    ...['ServiceGroup', 'Service', 'Template', 'TemplateService', 'ImportedRecord'],
    ...['Incident', 'IncidentService', 'IncidentMonitor', 'IncidentUpdate', 'IncidentUpdateService'],
    ...['IncidentNote', 'IncidentFile', 'IncidentLead', 'Postmortem'],
    ...['Maintenance', 'MaintenanceService', 'MaintenanceUpdate', 'MaintenanceSeries', 'MaintenanceSeriesService'],
  ],
  monitoring: [
    ...[
      'Monitor',
      'MonitorDependency',
      'Region',
      'StalenessScan',
      'FollowedMonitor',
      'Watch',
      'HeartbeatReceiver',
      'HeartbeatRun',
      'HeartbeatGap',
    ],
    ...['ProbeResult', 'MonitorHour', 'MonitorInterval', 'MonitorGap'],
    ...['UptimeDay', 'UptimeCorrection', 'ImportedHistory', 'Objective'],
  ],
  notification: [
    ...['Subscriber', 'SubscriberIncident', 'SubscriberService', 'Suppression'],
    ...['Dispatch', 'NotificationPayload', 'Delivery', 'PageReport'],
    ...['VapidKey', 'PushBrowser', 'PushDelivery'],
  ],
  alerting: ['AlertChannel', 'Alert', 'AlertRecipient', 'AlertDelivery'],
  integration: ['Integration', 'IncomingBody', 'IncomingGroup'],
  billing: ['PaymentEvent', 'PaymentReference', 'CheckoutStart', 'PaidSubscription', 'CheckPlanInvoice'],
}

const owners = new Map(Object.entries(ownedTables).flatMap(([room, tables]) => tables.map((table) => [table, room])))

/** Returns the room that owns a table. */
export function ownerOf(table: string): string {
  const owner = owners.get(table)
  if (owner === undefined) throw new Error(`No room owns ${table}.`)
  return owner
}

/** Tables that rooms still read although another room owns them. Only ever remove entries. */
export const readElsewhere: Readonly<Record<string, readonly string[]>> = {
  account: [
    'Alert',
    'AlertChannel',
    'Delivery',
    'Incident',
    'IncidentService',
    'IncidentUpdate',
    'Maintenance',
    'MaintenanceSeries',
    'MaintenanceService',
    'MaintenanceUpdate',
    'Monitor',
    'Objective',
    'Service',
    'ServiceGroup',
    'Session',
    'Subscriber',
    'UptimeCorrection',
    'User',
  ],
  status: ['Event', 'Monitor'],
  monitoring: ['Service'],
  notification: [
    'Incident',
    'IncidentService',
    'IncidentUpdate',
    'IncidentUpdateService',
    'Maintenance',
    'MaintenanceService',
    'MaintenanceUpdate',
    'Postmortem',
    'Service',
  ],
  alerting: ['Dispatch', 'Monitor', 'MonitorInterval', 'Objective', 'PushBrowser', 'Service', 'Watch'],
  integration: ['Incident', 'IncidentService', 'Service'],
  billing: ['Monitor', 'Service', 'Subscriber'],
  'status-page': [
    'Alert',
    'Incident',
    'IncidentUpdate',
    'Maintenance',
    'MaintenanceSeries',
    'MaintenanceSeriesService',
    'MaintenanceUpdate',
    'Monitor',
    'Objective',
    'Service',
  ],
  configuration: ['AlertChannel', 'Monitor', 'MonitorDependency', 'Objective', 'Service', 'ServiceGroup', 'Template'],
  console: ['Incident', 'Maintenance'],
  demo: ['Incident'],
  app: ['Watch'],
}

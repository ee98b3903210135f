import {
  ActorKind,
  EventKind,
  IncidentImpact,
  IncidentStatus,
  MaintenanceStatus,
  ServiceStatus,
} from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { indicators } from '../shown-status.ts'

builder.enumType(ServiceStatus, { name: 'ServiceStatus', description: 'How a service is doing.' })
builder.enumType(IncidentStatus, { name: 'IncidentStatus', description: 'How far an incident has come.' })
builder.enumType(IncidentImpact, { name: 'IncidentImpact', description: 'How bad an incident is as a whole.' })
builder.enumType(MaintenanceStatus, { name: 'MaintenanceStatus', description: 'How far a maintenance has come.' })
builder.enumType(EventKind, { name: 'EventKind', description: 'What an event says happened.' })
builder.enumType(ActorKind, { name: 'ActorKind', description: 'Who did something.' })

/** How a page as a whole is doing. */
export const StatusIndicator = builder.enumType('StatusIndicator', {
  description: 'How a page as a whole is doing.',
  values: indicators,
})

/** The order of things that have a time. */
export const TimeOrder = builder.enumType('TimeOrder', {
  description: 'The order of things that have a time.',
  values: { NEWEST_FIRST: { value: 'desc' }, OLDEST_FIRST: { value: 'asc' } } as const,
})

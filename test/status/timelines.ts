import type { Prisma } from '../../src/generated/prisma/client.ts'
import type { TimelineBounds } from '../../src/status/timeline/timeline-reader.ts'

/** Prints whole timelines, however long. */
export const fullTimeline: TimelineBounds = { form: 'MARKDOWN', updates: 1000, bytes: 2 ** 30, services: 1000 }

/** The relations of an incident that its timeline needs: newest update first, services in the page's order. */
export const incidentTimelineInclude = {
  services: { select: { serviceId: true, status: true }, orderBy: { service: { position: 'asc' } } },
  updates: {
    include: { services: { select: { serviceId: true, status: true }, orderBy: { service: { position: 'asc' } } } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  },
} satisfies Prisma.IncidentInclude

/** The same for a maintenance. */
export const maintenanceTimelineInclude = {
  services: { select: { serviceId: true }, orderBy: { service: { position: 'asc' } } },
  updates: { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] },
} satisfies Prisma.MaintenanceInclude

import { newId } from '../../src/core/id.ts'
import { DAY } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { writeMonitors } from '../monitoring/histories.ts'

/**
 * Creates an organization with as many services and monitors as the highest tier allows, and 90 days of history of each
 * monitor.
 */
export interface Large {
  readonly slug: string
  readonly organizationId: string
  readonly serviceIds: readonly string[]
  readonly groupIds: readonly string[]
}

const SERVICES = 1000
const MONITORS = 500
const GROUPS = 50
const DAYS = 90

/** Fills an empty organization. */
export async function fillLarge(
  prisma: PrismaClient,
  organization: { readonly id: string; readonly slug: string },
  now: Date,
): Promise<Large> {
  const organizationId = organization.id
  const createdAt = new Date(now.getTime() - DAYS * DAY)
  const description = 'What visitors should know of it, in a sentence.'
  const groupIds = Array.from({ length: GROUPS }, () => newId('ServiceGroup'))
  await prisma.serviceGroup.createMany({
    data: groupIds.map((id, position) => ({ id, organizationId, name: `Group ${position}`, position, createdAt })),
  })
  const serviceIds = Array.from({ length: SERVICES }, () => newId('Service'))
  await prisma.service.createMany({
    data: serviceIds.map((id, position) => ({
      ...{ id, organizationId, name: `Service ${position}`, description, position, createdAt },
      groupId: groupIds[position % GROUPS],
    })),
  })
  const monitorIds = await writeMonitors(
    prisma,
    serviceIds.slice(0, MONITORS).map((serviceId) => ({
      ...{ organizationId, serviceId, lastKnownAt: now },
      states: [['UP', createdAt] as const],
    })),
  )
  const subjects = [...monitorIds, ...serviceIds.slice(0, MONITORS)]
  await prisma.$executeRaw`
    INSERT INTO "UptimeDay" ("subjectId", day, "organizationId", up, degraded, down, unknown, maintenance)
    SELECT subject, ${now}::date - ago, ${organizationId}, 86400000 - ago * 1000, 0, ago * 1000, 0, 0
    FROM unnest(${subjects}::text[]) AS subject, generate_series(1, ${DAYS}) AS ago`
  return { slug: organization.slug, organizationId, serviceIds, groupIds }
}

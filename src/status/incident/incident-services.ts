import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, idText, named } from '../../core/described.ts'
import { typeOfId } from '../../core/id.ts'
import { requireVersion, sameSet, versionInput } from '../../core/optimistic-lock.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { MAX_SERVICES, requireDistinct, requireServices } from '../ownership.ts'
import { formerServices } from '../page-scope.ts'
import { incidentStatuses } from '../service/service-status.ts'
import { stateByIncidents } from '../service/statement.ts'
import { findIncident, incidentEvent, manual, requireOwnTimeline } from './incident.ts'

/** The services that an incident affects, and their statuses. */
export const serviceStatuses = z
  .array(
    named(
      z.object({
        serviceId: idOf('The service.'),
        status: described(named(z.enum(incidentStatuses), { name: 'ServiceStatus', of: ServiceStatus }), {
          description: 'The service’s status. OPERATIONAL: recovered.',
        }),
      }),
      { name: 'IncidentService', about: 'An affected service and its status.' },
    ),
  )
  .max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`)

export type ServiceStatuses = readonly Readonly<z.infer<typeof serviceStatuses>[number]>[]

/** Selects those of the given services that belong to the organization, with their statuses. */
export function ownServices(organizationId: string, services: ServiceStatuses): Prisma.Sql {
  const isValid = services.every(({ serviceId }) => typeOfId(serviceId) === 'Service')
  const given = isValid ? services : []
  return Prisma.sql`
    SELECT given.id, given.status::"ServiceStatus"
    FROM unnest(${given.map(serviceIdOf)}::text[], ${given.map(({ status }) => status)}::text[]) AS given (id, status)
    JOIN "Service" AS service ON service.id = given.id AND service."organizationId" = ${organizationId}`
}

/** Replaces the affected services of an incident. Returns the previous ones, or null if nothing changed. */
export async function replaceServices(
  tx: Context,
  { id, organizationId, status }: Incident,
  services: ServiceStatuses,
) {
  const former = await readServiceStatuses(tx, id)
  if (sameSet(services, former, statusKey)) return null
  if (status === 'RESOLVED') requireRecovered(services)
  await requireServices(tx, organizationId, services.map(serviceIdOf))
  await tx.db.incidentService.deleteMany({ where: { incidentId: id } })
  const data = services.map((each) => ({ incidentId: id, ...each }))
  if (data.length > 0) await tx.db.incidentService.createMany({ data })
  return former
}

/** The input of `updateIncidentServices`. */
export const servicesEdit = named(
  z.object({
    incidentId: idOf('The incident.'),
    services: described(serviceStatuses.nullish(), { description: 'Affected services and their new statuses.' }),
    removedServiceIds: described(z.array(idText).max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`).nullish(), {
      description: 'Services that the incident no longer affects.',
    }),
    version: versionInput,
  }),
  {
    name: 'IncidentServices',
    about: 'Changes to the affected services of an incident. Services that are not named stay as they are.',
  },
)

/**
 * Sets the statuses of the given services of an incident and removes others; services that are not named stay. Requires
 * a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the incident is newer than the given version.
 */
export async function updateIncidentServices(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, version, ...given } = validate(servicesEdit, input)
  const services = given.services ?? []
  const removed = given.removedServiceIds ?? []
  const named = services.map(serviceIdOf)
  requireDistinct([...named, ...removed], (index) =>
    index < named.length ? ['services', index, 'serviceId'] : ['removedServiceIds', index - named.length],
  )
  return change(ctx, organizationId, async (tx) => {
    const before = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(before)
    requireVersion(before, version)
    if (before.status === 'RESOLVED') requireRecovered(services)
    await requireServices(tx, organizationId, [...named, ...removed])
    const former = await readServiceStatuses(tx, incidentId)
    const known = new Set(former.map(statusKey))
    const isSame = services.every((each) => known.has(statusKey(each))) && !hasAny(known, removed)
    if (isSame) return [before]
    await setServiceStatuses(tx, incidentId, services)
    if (removed.length > 0)
      await tx.db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: removed } } })
    const data = { ...manual, version: { increment: 1 } }
    const incident = await tx.db.incident.update({ where: { id: incidentId }, data })
    await stateByIncidents(tx, [incidentId])
    const serviceIds = formerServices(former)
    return [incident, incidentEvent('INCIDENT_UPDATED', incident, { serviceIds })]
  })
}

/** Reads the services of an incident with their current statuses. */
export function readServiceStatuses({ db }: Context, incidentId: string) {
  return db.incidentService.findMany({ where: { incidentId }, select: { serviceId: true, status: true } })
}

/** Sets the statuses of the given services. Others stay as they are. */
async function setServiceStatuses({ db }: Context, incidentId: string, services: ServiceStatuses): Promise<void> {
  if (services.length === 0) return
  const named = services.map(serviceIdOf)
  await db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: named } } })
  await db.incidentService.createMany({ data: services.map((each) => ({ incidentId, ...each })) })
}

/** @throws Invalid if a resolved incident would leave a service impaired. */
export function requireRecovered(services: ServiceStatuses): void {
  const issues = services.flatMap(({ status }, index) =>
    status === 'OPERATIONAL'
      ? []
      : [{ path: ['services', String(index), 'status'], message: 'must be OPERATIONAL when the incident is resolved' }],
  )
  if (issues.length > 0) throw invalid(issues)
}

const statusKey = ({ serviceId, status }: { readonly serviceId: string; readonly status: string }) =>
  `${serviceId} ${status}`
const hasAny = (serviceStatuses: ReadonlySet<string>, serviceIds: readonly string[]) =>
  [...serviceStatuses].some((key) => serviceIds.some((id) => key.startsWith(`${id} `)))

/** Returns the service id of an item of the input. */
export const serviceIdOf = ({ serviceId }: ServiceStatuses[number]) => serviceId

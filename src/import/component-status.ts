import type { ObjectFields } from '../configuration/format.ts'
import type { ServiceStatus } from '../generated/prisma/enums.ts'
import type { Drafted } from './translation.ts'

/**
 * Leaves the current statuses of services to the open incidents and running maintenances that cause them: such a service
 * is stated as OPERATIONAL, so that it recovers with them. Other statuses stay as they were set there.
 */
export function withoutCausedStatuses<T extends Pick<Drafted, 'objects' | 'records'>>(draft: T): T {
  const caused = causedServices(draft)
  const services = new Map<string, ObjectFields>()
  for (const [key, fields] of draft.objects.services) {
    const isCaused = fields['status'] !== undefined && caused.has(key)
    services.set(key, isCaused ? { ...fields, status: 'OPERATIONAL' satisfies ServiceStatus } : fields)
  }
  return { ...draft, objects: { ...draft.objects, services } }
}

/** Returns the keys of the services that open incidents and running maintenances name. */
function causedServices({ records }: Pick<Drafted, 'records'>): ReadonlySet<string> {
  const open = records.incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const running = records.maintenances.filter(({ status }) => status === 'IN_PROGRESS' || status === 'VERIFYING')
  return new Set([
    ...open.flatMap(({ updates }) => updates.flatMap(({ services }) => services.map(({ key }) => key))),
    ...running.flatMap(({ services }) => services),
  ])
}

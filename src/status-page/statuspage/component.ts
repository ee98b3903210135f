import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { ServiceState } from '../../status/page/page-state.ts'
import { worstStatus } from '../../status/service/service-status.ts'
import { lowercase } from './names.ts'
import type { StatuspageSource } from './source.ts'

/** A service or a service group; Statuspage lists both as components. */
export interface Component {
  readonly id: string
  readonly name: string
  readonly status: Lowercase<ServiceStatus>
  readonly created_at: string
  readonly updated_at: string
  /** From 1, within its group, or among groups and services without a group. */
  readonly position: number
  readonly description: string | null
  /** Whether the page shows its uptime. */
  readonly showcase: boolean
  /** The first day whose uptime the page may show, such as `2026-11-20`. */
  readonly start_date: string | null
  readonly group_id: string | null
  readonly page_id: string
  readonly group: boolean
  readonly only_show_if_degraded: boolean
  /** The ids of a group's services; absent for services. */
  readonly components?: readonly string[]
}

/**
 * Returns the services and groups in the page's order: services without a group, then each group followed by its
 * services.
 */
export function componentsOf(source: StatuspageSource): Component[] {
  const { groups, services } = source.state
  const within = (groupId: string | null) => services.filter((service) => service.groupId === groupId)
  const alone = within(null).map((service, index) => componentOf(source, service, index + 1))
  const filled = groups.map((group) => ({ group, own: within(group.id) })).filter(({ own }) => own.length > 0)
  return [
    ...alone,
    ...filled.flatMap(({ group, own }, index) => [
      {
        ...rowOf(source, group, alone.length + index + 1),
        status: lowercase(worstStatus<ServiceStatus>(own.map(({ status }) => status))),
        showcase: false,
        start_date: null,
        group_id: null,
        group: true,
        components: own.map(({ id }) => id),
      },
      ...own.map((service, index) => componentOf(source, service, index + 1)),
    ]),
  ]
}

function componentOf(source: StatuspageSource, service: ServiceState, position: number): Component {
  const showcase = source.monitoredServices.has(service.id)
  return {
    ...rowOf(source, service, position),
    status: lowercase(service.status),
    showcase,
    start_date: showcase ? source.zone.dayKey(service.createdAt) : null,
    group_id: service.groupId,
    group: false,
  }
}

function rowOf(
  { state, changes }: StatuspageSource,
  { id, name, description, createdAt }: Pick<ServiceState, 'id' | 'name' | 'description' | 'createdAt'>,
  position: number,
) {
  return {
    id,
    name,
    created_at: createdAt.toISOString(),
    updated_at: (changes.get(id) ?? createdAt).toISOString(),
    position,
    description: description === '' ? null : description,
    page_id: state.organization.id,
    only_show_if_degraded: false,
  }
}

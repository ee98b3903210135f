import type { IncidentStatus, MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type { ShownStatus } from '../../status/shown-status.ts'
import { statusShapes } from '../status-shapes.ts'
import { incidentStatusLabels, maintenanceStatusLabels, serviceStatusLabels } from '../view.ts'

/** Renders a service's status as icon and label. The nearest `data-status` sets the colour. @param label instead of the usual one. */
export function ServiceMark({ status, label }: { readonly status: ShownStatus; readonly label?: string }) {
  return (
    <span class="mark">
      <Shape of={status} />
      {label ?? serviceStatusLabels[status]}
    </span>
  )
}

/** Renders an incident's status. Only `RESOLVED` has an icon of its own. */
export function IncidentMark({ status }: { readonly status: IncidentStatus }) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'RESOLVED' ? 'OPERATIONAL' : 'OPEN'} />
      {incidentStatusLabels[status]}
    </span>
  )
}

/** Renders a maintenance's status. */
export function MaintenanceMark({ status }: { readonly status: MaintenanceStatus }) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'COMPLETED' ? 'OPERATIONAL' : 'UNDER_MAINTENANCE'} />
      {maintenanceStatusLabels[status]}
    </span>
  )
}

/** Renders the icon alone, next to text that names the status. */
export function Shape({ of }: { readonly of: keyof typeof statusShapes }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path fill-rule="evenodd" d={statusShapes[of]} />
    </svg>
  )
}

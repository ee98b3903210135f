import type { IncidentStatus, MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type { ShownAs } from '../../status/shown-status.ts'
import { shapes } from '../shape.ts'
import { incidentWords, maintenanceWords, serviceWords } from '../view.ts'

/** A service's status in words, with its shape. Colour comes from the nearest `data-status`. */
export function ServiceMark({ status }: { readonly status: ShownAs }) {
  return (
    <span class="mark">
      <Shape of={status} />
      {serviceWords[status]}
    </span>
  )
}

/** Where an incident stands, in a word. Only a resolved one has a shape: it tells that nothing is wrong any more. */
export function IncidentMark({ status }: { readonly status: IncidentStatus }) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'RESOLVED' ? 'OPERATIONAL' : 'OPEN'} />
      {incidentWords[status]}
    </span>
  )
}

/** Where a maintenance stands, in a word. */
export function MaintenanceMark({ status }: { readonly status: MaintenanceStatus }) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'COMPLETED' ? 'OPERATIONAL' : 'UNDER_MAINTENANCE'} />
      {maintenanceWords[status]}
    </span>
  )
}

/** The shape alone, for where words stand beside it already. */
export function Shape({ of }: { readonly of: keyof typeof shapes }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path fill-rule="evenodd" d={shapes[of]} />
    </svg>
  )
}

import type { IncidentStatus, MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { ShownStatus } from '../../status/service/service-status.ts'
import { statusShapes } from '../status-shapes.ts'

/** The console is in English. */
const english = wordsOf('EN')

/**
 * Renders a service's status as icon and label. The nearest `data-status` sets the colour.
 * @param label replaces the default one.
 */
export function ServiceMark({ status, label }: { readonly status: ShownStatus; readonly label?: string }) {
  return (
    <span class="mark">
      <Shape of={status} />
      {label ?? english.status[status]}
    </span>
  )
}

/** A status, and its texts; those of the console by default. */
interface MarkProps<Status> {
  readonly status: Status
  readonly words?: Catalogue
}

/** Renders an incident's status. Only `RESOLVED` has its own icon. */
export function IncidentMark({ status, words = english }: MarkProps<IncidentStatus>) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'RESOLVED' ? 'OPERATIONAL' : 'OPEN'} />
      {words.incidentStatus[status]}
    </span>
  )
}

/** Renders a maintenance's status. */
export function MaintenanceMark({ status, words = english }: MarkProps<MaintenanceStatus>) {
  return (
    <span class="mark" data-status={status}>
      <Shape of={status === 'COMPLETED' ? 'OPERATIONAL' : 'UNDER_MAINTENANCE'} />
      {words.maintenanceStatus[status]}
    </span>
  )
}

/** Renders the icons that `Shape` refers to, once per page, so that large pages and their changes stay small. */
export function ShapeSheet() {
  return (
    <svg id="icons" width="0" height="0" aria-hidden="true">
      {Object.entries(statusShapes).map(([name, path]) => (
        <symbol id={`i-${name}`} viewBox="0 0 16 16">
          <path fill-rule="evenodd" d={path} />
        </symbol>
      ))}
    </svg>
  )
}

/** Renders the icon alone, next to text that names the status. */
export function Shape({ of }: { readonly of: keyof typeof statusShapes }) {
  return (
    <svg aria-hidden="true">
      <use href={`#i-${of}`} />
    </svg>
  )
}

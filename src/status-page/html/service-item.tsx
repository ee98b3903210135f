import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { yieldAfterTimeSlice } from '../../core/time-slice.ts'
import type { ServiceHistory } from '../service-history.ts'
import { barView, serviceHistoryViews } from '../service-history.ts'
import type { ServiceView } from '../view.ts'
import { serviceLabel } from '../view.ts'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { ServiceMark } from './status-mark.tsx'
import type { ServiceWithHistory } from './uptime.tsx'
import { UptimeHistory } from './uptime.tsx'

/**
 * Renders the services of the overview, by service id. Yields the event loop between them: those of a large organization take
 * longer than a time slice.
 * @param isInline whether each contains what happened on its days.
 */
export async function renderServices(
  services: readonly ServiceView[],
  histories: ReadonlyMap<string, ServiceHistory>,
  isInline: boolean,
  context: PageContext,
): Promise<ReadonlyMap<string, Child>> {
  const views = isInline ? await serviceHistoryViews(histories, context.zone) : null
  const owner = {}
  const rendered = new Map<string, Child>()
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const { id, name } = service
    const history = histories.get(id)
    const past = history && { id, name, bar: barView(history), history: views?.get(id) ?? null }
    rendered.set(id, raw(`${<ServiceItem service={service} past={past ?? null} context={context} />}`))
  }
  return rendered
}

interface ServiceItemProps {
  readonly service: ServiceView
  /** Null: it has no monitors. */
  readonly past: ServiceWithHistory | null
  readonly context: PageContext
}

function ServiceItem({ service, past, context }: ServiceItemProps) {
  const { id, name, description, shown, unknownSince } = service
  const label = serviceLabel(service, context.zone)
  return (
    <Part>
      <li id={id} data-status={shown} data-announce={`${name}: ${label}.`}>
        <span class="name">{name}</span>
        <ServiceMark status={shown} label={label} />
        {unknownSince && shown !== 'UNKNOWN' && (
          <p class="about">Monitoring has been silent since {context.zone.time(unknownSince)}.</p>
        )}
        {description === '' ? null : <p class="about">{description}</p>}
        {past && <UptimeHistory service={past} context={context} />}
      </li>
    </Part>
  )
}

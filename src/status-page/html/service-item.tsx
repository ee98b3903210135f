import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import type { BarView, ServiceHistory } from '../service-history.ts'
import { barView } from '../service-history.ts'
import type { ServiceView } from '../view.ts'
import { serviceLabel } from '../view.ts'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { rangeAddress } from './range-bar.tsx'
import { ServiceMark } from './status-mark.tsx'
import { UptimeLine } from './uptime.tsx'

/**
 * Renders the services of the overview, by service id. Yields the event loop between them: those of a large
 * organization take longer than a time slice.
 */
export async function renderServices(
  services: readonly ServiceView[],
  histories: ReadonlyMap<string, ServiceHistory>,
  range: RangeName,
  context: PageContext,
): Promise<ReadonlyMap<string, Child>> {
  const owner = {}
  const rendered = new Map<string, Child>()
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const history = histories.get(service.id)
    const item = <ServiceItem {...{ service, range, context }} bar={history ? barView(history, context.words) : null} />
    rendered.set(service.id, raw(`${item}`))
  }
  return rendered
}

interface ServiceItemProps {
  readonly service: ServiceView
  readonly range: RangeName
  readonly bar: BarView | null
  readonly context: PageContext
}

/** Renders a service as one line that opens its description, with links to its days. */
function ServiceItem({ service, range, bar, context }: ServiceItemProps) {
  const { id, name, description, shown, unknownSince } = service
  const label = serviceLabel(service, context.zone, context.words)
  return (
    <Part>
      <li id={id} data-status={shown} data-announce={`${name}: ${label}.`}>
        <details>
          <summary class="line">
            <span class="name" {...context.ownersText}>
              {name}
            </span>
            {bar && <UptimeLine range={range} bar={bar} words={context.words} />}
            <ServiceMark status={shown} label={label} />
          </summary>
          {unknownSince && shown !== 'UNKNOWN' && (
            <p class="about">{context.words.service.silentSince(context.zone.time(unknownSince))}</p>
          )}
          {description === '' ? null : (
            <p class="about" {...context.ownersText}>
              {description}
            </p>
          )}
          <p>
            <a class="days-link" href={rangeAddress(`${context.base}/services/${id}`, range)}>
              {context.words.service.dayByDay}
            </a>
          </p>
        </details>
      </li>
    </Part>
  )
}

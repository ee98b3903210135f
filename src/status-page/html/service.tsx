import type { ServiceView } from '../view.ts'
import { serviceLabel } from '../view.ts'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { ServiceMark } from './status-mark.tsx'
import type { ServiceWithHistory } from './uptime.tsx'
import { Legend, WholeHistory } from './uptime.tsx'

interface ServicePageProps {
  readonly service: ServiceView
  readonly history: ServiceWithHistory
  /** When the figures end. */
  readonly readAt: Date
  readonly context: PageContext
}

/** Renders the page of one service with what happened on each of its days. */
export function ServicePage({ service, history, readAt, context }: ServicePageProps) {
  const { id, name, description, shown, unknownSince } = service
  const { owner, zone } = context
  const label = serviceLabel(service, zone)
  return (
    <PageLayout
      context={context}
      title={`${name}: ${label.toLowerCase()} · ${owner.name} status`}
      description={`Status and uptime of ${name}, a service of ${owner.name}.`}
      path={`/services/${id}`}
    >
      <p class="eyebrow">Service</p>
      <h1>{name}</h1>
      <LiveState />
      <Part>
        <section id={id} data-status={shown} data-announce={`${name}: ${label}.`}>
          <ServiceMark status={shown} label={label} />
          {unknownSince && shown !== 'UNKNOWN' && (
            <p class="about">Monitoring has been silent since {zone.time(unknownSince)}.</p>
          )}
          {service.basis === 'OWNER' ? <p class="about">Its status is set by hand.</p> : null}
          {description === '' ? null : <p class="about">{description}</p>}
          <WholeHistory service={history} context={context} />
        </section>
      </Part>
      <Legend zone={zone} readAt={readAt} />
    </PageLayout>
  )
}

import type { LatencyPoint } from '../../monitoring/uptime/latency.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import { unitOf } from '../../monitoring/uptime/uptime-range.ts'
import { documentPath } from '../page-address.ts'
import type { ServiceHistoryView } from '../service-history.ts'
import type { ServiceView } from '../view.ts'
import { serviceLabel } from '../view.ts'
import { DayDialog } from './day-dialog.tsx'
import { LatencyChart } from './latency-chart.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { dayAddress, RangeBar, Ranges } from './range-bar.tsx'
import { ServiceMark } from './status-mark.tsx'
import { DayList, Legend } from './uptime.tsx'

interface ServicePageProps {
  readonly service: ServiceView
  readonly range: RangeName
  readonly ranges: readonly RangeName[]
  readonly history: ServiceHistoryView
  readonly latencies: readonly LatencyPoint[]
  /** When the figures end. */
  readonly readAt: Date
  readonly context: PageContext
}

/** Renders the page of one service with its days. */
export function ServicePage(props: ServicePageProps) {
  const { service, readAt, context } = props
  const { id, name, description, shown, unknownSince } = service
  const { owner, zone, words } = context
  const label = serviceLabel(service, zone, words)
  return (
    <PageLayout
      context={context}
      title={words.page.title(`${name}: ${label}`, owner.name)}
      description={words.service.description(name, owner.name)}
      path={`/services/${id}`}
    >
      <p class="eyebrow">{words.service.service}</p>
      <h1 {...context.ownersText}>{name}</h1>
      <LiveState words={words} />
      <Part>
        <section id={id} data-status={shown} data-announce={`${name}: ${label}.`}>
          <ServiceMark status={shown} label={label} />
          {unknownSince && shown !== 'UNKNOWN' && (
            <p class="about">{words.service.silentSince(zone.time(unknownSince))}</p>
          )}
          {service.basis === 'OWNER' ? <p class="about">{words.service.setByHand}</p> : null}
          {description === '' ? null : (
            <p class="about" {...context.ownersText}>
              {description}
            </p>
          )}
          <p class="notify">
            <a href={documentPath(context, `/subscribe?service=${id}`)}>{context.words.subscribe.service}</a>
          </p>
          <History {...props} />
        </section>
      </Part>
      <Legend
        {...{ zone, words, readAt }}
        source={context.owner.uptimeSource}
        each={words.range.bar[unitOf(props.range)](zone.name)}
        hasImported={props.history.days.some(({ imported }) => imported !== null)}
      />
      <DayDialog words={words} />
    </PageLayout>
  )
}

function History({ service: { id, name }, range, ranges, history, latencies, readAt, context }: ServicePageProps) {
  const base = `${context.base}/services/${id}`
  const addressOf = (key: string) => dayAddress(key, unitOf(range))
  return (
    <div class="history">
      <Ranges base={base} ranges={ranges} range={range} words={context.words} />
      <RangeBar range={range} name={name} history={history} words={context.words} />
      <p>{history.summary}</p>
      <DayForm base={base} history={history} readAt={readAt} context={context} />
      <DayList history={history} addressOf={addressOf} context={context} />
      {latencies.length === 0 ? null : (
        <LatencyChart points={latencies} range={range} zone={context.zone} words={context.words} />
      )}
    </div>
  )
}

interface DayFormProps extends Pick<ServicePageProps, 'history' | 'readAt' | 'context'> {
  readonly base: string
}

/** Renders a form that opens any day: without a script, the bar has one tab stop. */
function DayForm({ base, history, readAt, context: { zone, words } }: DayFormProps) {
  const [first, today] = [history.days[0]?.key, zone.dayKey(readAt)]
  return (
    <form class="open-day" action={base}>
      <label for="day-field">{words.range.openDay}</label>
      <input id="day-field" type="date" name="day" value={today} min={first} max={today} required data-keep />
      <button type="submit">{words.range.open}</button>
    </form>
  )
}

import type { Child } from 'hono/jsx'
import type { Catalogue } from '../../language/catalogue.ts'
import { isolate } from '../../language/isolate.ts'
import { outageTime } from '../../monitoring/uptime/uptime.ts'
import type { MonthlyReport, ServiceReport } from '../monthly-report.ts'
import { documentPath } from '../page-address.ts'
import { monthName, parseMonth } from '../time-format.ts'
import { OwnersTitle, Sentence } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Span } from './time.tsx'

/** Renders the list of the months that have a report, newest first. */
export function ReportList({ context, months }: { readonly context: PageContext; readonly months: readonly string[] }) {
  const { words, owner, base } = context
  const { title, none } = words.report
  return (
    <PageLayout context={context} title={words.page.title(title, owner.name)} description={title} path="/reports">
      <Part>
        <section>
          <h1>{title}</h1>
          {months.length === 0 ? <p class="about">{none}</p> : null}
          <ul class="happenings">
            {months.map((month) => (
              <li>
                <a href={`${base}/reports/${month}`}>{nameOf(month, words)}</a>
              </li>
            ))}
          </ul>
        </section>
      </Part>
    </PageLayout>
  )
}

interface Props {
  readonly context: PageContext
  readonly report: MonthlyReport
}

/** The maximum number of incidents, maintenances and corrections on the page; its JSON has more. */
const MAX_LISTED = 100

/**
 * Renders the report of a month for readers of a page: without objectives, and without the authors of corrections and
 * their reasons.
 */
export function ReportPage({ context, report }: Props) {
  const { words, owner, zone } = context
  const { report: own, maintenance } = words
  const title = own.of(nameOf(report.month, words))
  const path = `/reports/${report.month}`
  return (
    <PageLayout context={context} title={words.page.title(title, owner.name)} description={title} path={path}>
      <Part>
        <section id="report">
          <p class="eyebrow">
            <a href={`${context.base}/reports`}>{own.title}</a>
          </p>
          <h1>{title}</h1>
          <p class="about">
            {maintenance.span(zone.time(report.from), zone.time(report.to))} ·{' '}
            <a href={documentPath(context, `${path}/report.csv`)}>CSV</a> ·{' '}
            <a href={documentPath(context, `${path}/report.json`)}>JSON</a>
          </p>
          <h2>{words.overview.services}</h2>
          <ul class="happenings">
            {report.services.map((service) => (
              <li>
                <span>
                  <b {...context.ownersText}>{service.name}</b> {factsOf(service, words)}
                </span>
                <span class="lasted">{figureOf(service, words)}</span>
              </li>
            ))}
          </ul>
          <Happened {...{ context, report }} />
        </section>
      </Part>
    </PageLayout>
  )
}

function Happened({ context, report }: Props) {
  const { words, zone, base } = context
  const { incidents, maintenances, corrections, recovery } = report
  return (
    <>
      {incidents.length + maintenances.length === 0 ? (
        <p class="about">{words.history.none(nameOf(report.month, words))}</p>
      ) : null}
      <List title={words.day.incidents} items={incidents} words={words}>
        {({ id, startedAt, resolvedAt, impact, ...incident }) => (
          <li>
            <span>
              <OwnersTitle of={incident} href={`${base}/incidents/${id}`} context={context} /> {words.impact[impact]},{' '}
              {zone.time(startedAt)}
            </span>
            <span class="lasted">{resolvedAt && words.duration(resolvedAt.getTime() - startedAt.getTime())}</span>
          </li>
        )}
      </List>
      {recovery.meanMs === null ? null : (
        <p class="about">
          {words.report.recovery}: {words.duration(recovery.meanMs)}
        </p>
      )}
      <List title={words.report.notCounted} items={maintenances} words={words}>
        {({ startedAt, endedAt, ...maintenance }) => (
          <li>
            <span>
              <Sentence text={isolate(maintenance.title)} context={context} />
            </span>
            <span class="lasted">
              <Span from={startedAt ?? report.from} to={endedAt ?? report.to} zone={zone} words={words} />
            </span>
          </li>
        )}
      </List>
      <List title={words.report.corrections} items={corrections} words={words}>
        {({ service, startsAt, endsAt, kind }) => (
          <li>
            <span>
              <b {...context.ownersText}>{service}</b> {words.report.kinds[kind]}
            </span>
            <span class="lasted">
              <Span from={startsAt} to={endsAt} zone={zone} words={words} />
            </span>
          </li>
        )}
      </List>
    </>
  )
}

function List<T>(props: {
  readonly title: string
  readonly items: readonly T[]
  readonly words: Catalogue
  readonly children: (item: T) => Child
}) {
  const { title, items, words, children } = props
  if (items.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="happenings">{items.slice(0, MAX_LISTED).map(children)}</ul>
      {items.length > MAX_LISTED ? <p>{words.day.more(items.length - MAX_LISTED)}</p> : null}
    </>
  )
}

const nameOf = (month: string, words: Catalogue) => {
  const parsed = parseMonth(month)
  return parsed === null ? month : monthName(parsed, words)
}

const figureOf = ({ percent, source }: ServiceReport, { uptime, percent: format }: Catalogue) => {
  if (percent === null) return uptime.noData
  return source === 'INCIDENTS' ? uptime.byIncidents(format(percent)) : uptime.measured(format(percent))
}

/** Describes the outages, maintenance and missing data of a service, and how much of it was corrected. */
function factsOf({ tally, percent }: ServiceReport, { uptime, report, duration }: Catalogue): string {
  const { bad, partial, unknown, maintenance, corrected } = tally
  const down = bad - outageTime({ down: 0, partial })
  if (percent === null && maintenance === 0) return ''
  return uptime.listed([
    ...(bad === 0 ? [uptime.noOutages] : []),
    ...(down > 0 ? [uptime.down(down)] : []),
    ...(partial > 0 ? [uptime.partial(partial)] : []),
    ...(maintenance > 0 ? [uptime.maintenance(maintenance)] : []),
    ...(unknown > 0 ? [uptime.unknown(unknown)] : []),
    ...(corrected > 0 ? [`${report.corrected.toLowerCase()} ${duration(corrected)}`] : []),
  ])
}

import type { Happening } from '../history.ts'
import type { ShownIncident, ShownMaintenance } from '../view.ts'
import { daysOf } from '../view.ts'
import type { Month } from '../zone.ts'
import { monthKey, monthName } from '../zone.ts'
import type { Served } from './frame.tsx'
import { Frame, Freshness } from './frame.tsx'
import { PastIncident } from './incident.tsx'
import { PastMaintenance } from './maintenance.tsx'

/** What the history shows: one month, or one page of it when much happened. */
export interface HistoryProps {
  readonly served: Served
  readonly month: Month
  /** Newest first. */
  readonly happenings: readonly Happening<ShownIncident, ShownMaintenance>[]
  readonly page: number
  readonly pages: number
  /** The nearest month before it in which something began; null: nothing is older. */
  readonly earlier: Month | null
  /** The nearest month after it in which something began, or the present one; null for the present one itself. */
  readonly later: Month | null
}

/** The page at `/status/{slug}/history`. */
export function History(props: HistoryProps) {
  const { served, month, happenings } = props
  const { owner } = served
  return (
    <Frame
      served={served}
      title={`History of ${monthName(month)} · ${owner.name} status`}
      description={`Every incident and every maintenance of ${owner.name} in ${monthName(month)}.`}
      path={`/history${props.later === null ? '' : `?month=${monthKey(month)}`}`}
    >
      <p class="eyebrow">Incident history</p>
      <h1>{monthName(month)}</h1>
      <Freshness />
      <Paging {...props} />
      {daysOf(happenings, served.zone, ({ at }) => at).map((day) => (
        <section id={`day-${day.key}`} class="day">
          <h3>{day.name}</h3>
          {day.begun.map((happening) =>
            'incident' in happening ? (
              <PastIncident incident={happening.incident} served={served} />
            ) : (
              <PastMaintenance maintenance={happening.maintenance} served={served} />
            ),
          )}
        </section>
      ))}
      {happenings.length === 0 ? (
        <p class="about">No incidents and no maintenance in {monthName(month)}.</p>
      ) : (
        <Paging {...props} />
      )}
    </Frame>
  )
}

function Paging({ served, month, page, pages, earlier, later }: HistoryProps) {
  const path = (to: Month, at = 1) => `${served.base}/history?month=${monthKey(to)}${at > 1 ? `&page=${at}` : ''}`
  return (
    <nav class="paging" aria-label="Months">
      {earlier === null ? null : <a href={path(earlier)}>← {monthName(earlier)}</a>}
      {pages > 1 ? (
        <span>
          {page > 1 ? <a href={path(month, page - 1)}>Newer</a> : null} Page {page} of {pages}{' '}
          {page < pages ? <a href={path(month, page + 1)}>Older</a> : null}
        </span>
      ) : null}
      {later === null ? null : <a href={path(later)}>{monthName(later)} →</a>}
    </nav>
  )
}

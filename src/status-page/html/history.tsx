import type { HistoryItem } from '../history.ts'
import type { Month } from '../time-format.ts'
import { monthKey, monthName } from '../time-format.ts'
import type { IncidentView, MaintenanceView } from '../view.ts'
import { groupByDay } from '../view.ts'
import { PastIncident } from './incident.tsx'
import { PastMaintenance } from './maintenance.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'

/** One page of a month's history. */
export interface HistoryProps {
  readonly context: PageContext
  readonly month: Month
  /** Newest first. */
  readonly items: readonly HistoryItem<IncidentView, MaintenanceView>[]
  readonly page: number
  readonly pages: number
  /** The nearest earlier month with an item; null: nothing is older. */
  readonly earlier: Month | null
  /** The nearest later month with an item, or the current month; null for the current month. */
  readonly later: Month | null
}

/** Renders the page at `/status/{slug}/history`. */
export function History(props: HistoryProps) {
  const { context, month, items } = props
  const { owner, words } = context
  const name = monthName(month, words)
  return (
    <PageLayout
      context={context}
      title={words.page.title(words.history.of(name), owner.name)}
      description={words.history.description(owner.name, name)}
      path={`/history${props.later === null ? '' : `?month=${monthKey(month)}`}`}
    >
      <p class="eyebrow">{words.history.title}</p>
      <h1>{name}</h1>
      <LiveState words={words} />
      <Paging {...props} />
      {items.length === 0 ? null : <h2 class="hidden">{words.overview.pastIncidents}</h2>}
      {groupByDay(items, context.zone, ({ at }) => at).map((day) => (
        <section id={`day-${day.key}`} class="day">
          <h3>{day.name}</h3>
          {day.items.map((item) =>
            'incident' in item ? (
              <PastIncident incident={item.incident} context={context} />
            ) : (
              <PastMaintenance maintenance={item.maintenance} context={context} />
            ),
          )}
        </section>
      ))}
      {items.length === 0 ? <p class="about">{words.history.none(name)}</p> : <Paging {...props} isRepeated />}
    </PageLayout>
  )
}

interface PagingProps extends HistoryProps {
  /** Whether the page already has this navigation above. */
  readonly isRepeated?: boolean
}

function Paging({ context: { base, words }, month, page, pages, earlier, later, isRepeated }: PagingProps) {
  const path = (to: Month, at = 1) => `${base}/history?month=${monthKey(to)}${at > 1 ? `&page=${at}` : ''}`
  if (earlier === null && later === null && pages === 1) return null
  const Tag = isRepeated ? 'div' : 'nav'
  return (
    <Tag class="paging" aria-label={isRepeated ? undefined : words.history.months}>
      {earlier === null ? null : <a href={path(earlier)}>‹ {monthName(earlier, words)}</a>}
      {pages > 1 ? (
        <span>
          {page > 1 ? <a href={path(month, page - 1)}>{words.history.newer}</a> : null}{' '}
          {words.history.page(page, pages)}{' '}
          {page < pages ? <a href={path(month, page + 1)}>{words.history.older}</a> : null}
        </span>
      ) : null}
      {later === null ? null : <a href={path(later)}>{monthName(later, words)} ›</a>}
    </Tag>
  )
}

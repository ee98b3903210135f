import { searchText } from '../../../core/list-filter.ts'
import { ownValue } from '../../../core/own-value.ts'
import type { MaintenanceStatus, Prisma } from '../../../generated/prisma/client.ts'
import { filteredInBatches } from '../../../graphql/list/batch-filter.ts'
import { filterTag } from '../../../graphql/list/filter.ts'
import { orderOf } from '../../../graphql/list/keyset.ts'
import { emptyForm } from '../../../http/page/form.tsx'
import { maintenancesMatching } from '../../../status/list-conditions.ts'
import { timelineSearch } from '../../../status/search.ts'
import { MaintenanceMark } from '../../../status-page/html/status-mark.tsx'
import { Span } from '../../../status-page/html/time.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { ListPage } from '../frame/paging.tsx'
import { PageLinks, readListPage } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import type { FilteredPage } from '../frame/timeline-filters.tsx'
import { dayRange, ofServiceNamed, readFiltered, TimelineFilters } from '../frame/timeline-filters.tsx'
import { readServiceNames } from '../services/service-fields.tsx'

type Row = Prisma.MaintenanceGetPayload<object>

/** The statuses of each option of the state filter. */
const states: Readonly<Record<string, MaintenanceStatus[]>> = {
  upcoming: ['SCHEDULED'],
  running: ['IN_PROGRESS', 'VERIFYING'],
  past: ['COMPLETED', 'CANCELLED'],
}

const stateChoices = [
  { value: '', text: 'All' },
  { value: 'upcoming', text: 'Upcoming' },
  { value: 'running', text: 'Running' },
  { value: 'past', text: 'Past' },
]

/** Adds the list of maintenance. */
export function maintenanceListScreens({ get }: Screens): void {
  get('maintenance', async (screen) => {
    const [page, services] = await Promise.all([readFiltered(() => readPage(screen)), readServiceNames(screen)])
    const schedule = (
      <a class="button" href={screen.path('maintenance/new')}>
        Schedule maintenance
      </a>
    )
    const shown = {
      title: 'Maintenance',
      section: 'maintenance',
      content: <Maintenances {...{ screen, page, services }} />,
      actions: (
        <>
          <a href={screen.path('templates')}>Templates</a>
          <a href={screen.path('maintenance/series')}>Repeating</a>
          {screen.may('WRITE') ? schedule : null}
        </>
      ),
    } as const
    return screen.show(shown, { ...emptyForm, problem: page.problem })
  })
}

/** @throws Invalid for an invalid cursor or filter. */
async function readPage(screen: Screen): Promise<ListPage<Row>> {
  const { ctx, organization, zone } = screen
  const query = screen.c.req.query()
  const status = ownValue(states, query['state'] ?? '')
  const { after, before } = dayRange(query, zone)
  const filter = { startsAfter: after, startsBefore: before, status, serviceId: query['serviceId'] }
  const text = searchText('text', query['text'])
  const tag = filterTag({ ...filter, text, service: query['service'] })
  const order = orderOf('Maintenance', { startsAt: ['time', 'desc'], id: ['text', 'desc'] }, tag)
  const where: Prisma.MaintenanceWhereInput = {
    organizationId: organization.id,
    AND: [maintenancesMatching(filter), ofServiceNamed(query)],
  }
  const { maintenance } = ctx.db
  if (text === null) {
    const read = (slice: Prisma.MaintenanceFindManyArgs) => maintenance.findMany(slice)
    return readListPage(screen.c, {
      path: screen.path('maintenance'),
      order,
      where,
      read,
      count: (of) => maintenance.count(of),
    })
  }
  const searched = filteredInBatches({
    order,
    candidates: (slice: Prisma.MaintenanceFindManyArgs) =>
      maintenance.findMany({ ...slice, select: { id: true, startsAt: true } }),
    selectMatching: timelineSearch(ctx, 'Maintenance', text),
    read: (ids) => maintenance.findMany({ where: { id: { in: ids } } }),
  })
  return readListPage(screen.c, { path: screen.path('maintenance'), order, where, ...searched })
}

interface Props {
  readonly screen: Screen
  readonly page: FilteredPage<Row>
  readonly services: readonly OfferedService[]
}

function Maintenances({ screen, page, services }: Props) {
  const query = new URL(screen.c.req.url).searchParams
  if (page.rows.length === 0 && query.size === 0) {
    return (
      <FirstStep screen={screen} path="maintenance/new" text="Schedule the first">
        No maintenance has been scheduled yet. Announce planned work: it starts and ends automatically.
      </FirstStep>
    )
  }
  return (
    <>
      <TimelineFilters {...{ query, services }} states={stateChoices} problem={page.problem} />
      {page.rows.length === 0 ? (
        <p class="lead">
          No maintenance matches. <a href={screen.path('maintenance')}>Show all</a>
        </p>
      ) : (
        <ul class="rows">
          {page.rows.map(({ id, title, status, startsAt, endsAt }) => (
            <li id={id}>
              <a href={screen.path(`maintenance/${id}`)}>{title}</a>
              <span class="row-facts">
                <MaintenanceMark status={status} /> · <Span from={startsAt} to={endsAt} zone={screen.zone} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <PageLinks {...page} />
    </>
  )
}

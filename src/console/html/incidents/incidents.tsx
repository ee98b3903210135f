import { searchText } from '../../../core/list-filter.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { filteredInBatches } from '../../../graphql/list/batch-filter.ts'
import { filterTag } from '../../../graphql/list/filter.ts'
import { orderOf } from '../../../graphql/list/keyset.ts'
import { emptyForm } from '../../../http/page/form.tsx'
import { incidentsMatching } from '../../../status/list-conditions.ts'
import { timelineSearch } from '../../../status/search.ts'
import { IncidentMark } from '../../../status-page/html/status-mark.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { impactLabels } from '../../../status-page/view.ts'
import { FirstStep } from '../frame/first-step.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { ListPage } from '../frame/paging.tsx'
import { PageLinks, readListPage } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import type { FilteredPage } from '../frame/timeline-filters.tsx'
import { dayRange, ofServiceNamed, readFiltered, TimelineFilters } from '../frame/timeline-filters.tsx'
import { readServiceNames } from '../services/service-fields.tsx'
import { visibilityNames } from './hidden-incident.tsx'

/** The maximum number of named services per incident of the list. */
const MAX_NAMES = 3

const include = {
  services: {
    select: { service: { select: { name: true } } },
    orderBy: { service: { position: 'asc' } },
    take: MAX_NAMES + 1,
  },
} as const satisfies Prisma.IncidentInclude

type Row = Prisma.IncidentGetPayload<{ include: typeof include }>

const stateChoices = [
  { value: '', text: 'All' },
  { value: 'open', text: 'Open' },
  { value: 'resolved', text: 'Resolved' },
  { value: 'hidden', text: 'Not published' },
]

/** Adds the list of incidents. */
export function incidentListScreens({ get }: Screens): void {
  get('incidents', async (screen) => {
    const [page, services] = await Promise.all([readFiltered(() => readPage(screen)), readServiceNames(screen)])
    const report = (
      <a class="button" href={screen.path('incidents/new')}>
        Report an incident
      </a>
    )
    const shown = {
      title: 'Incidents',
      section: 'incidents',
      content: <Incidents {...{ screen, page, services }} />,
      actions: (
        <>
          <a href={screen.path('templates')}>Templates</a>
          {screen.may('WRITE') ? report : null}
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
  const { after, before } = dayRange(query, zone)
  const filter = {
    startedAfter: after,
    startedBefore: before,
    open: query['state'] === 'open' ? true : query['state'] === 'resolved' ? false : null,
    visibility: query['state'] === 'hidden' ? (['DRAFT', 'SUGGESTED'] as const) : null,
    serviceId: query['serviceId'],
  }
  const text = searchText('text', query['text'])
  const order = orderOf(
    'Incident',
    { startedAt: ['time', 'desc'], id: ['text', 'desc'] },
    filterTag({ ...filter, text, service: query['service'] }),
  )
  const where = {
    organizationId: organization.id,
    AND: [incidentsMatching(filter), ofServiceNamed(query)],
  } satisfies Prisma.IncidentWhereInput
  const { incident } = ctx.db
  if (text === null) {
    const read = (slice: Prisma.IncidentFindManyArgs) => incident.findMany({ ...slice, include })
    return readListPage(screen.c, {
      path: screen.path('incidents'),
      order,
      where,
      read,
      count: (of) => incident.count(of),
    })
  }
  const searched = filteredInBatches({
    order,
    candidates: (slice: Prisma.IncidentFindManyArgs) =>
      incident.findMany({ ...slice, select: { id: true, startedAt: true } }),
    selectMatching: timelineSearch(ctx, 'Incident', text),
    read: (ids) => incident.findMany({ include, where: { id: { in: ids } } }),
  })
  return readListPage(screen.c, { path: screen.path('incidents'), order, where, ...searched })
}

interface Props {
  readonly screen: Screen
  readonly page: FilteredPage<Row>
  readonly services: readonly OfferedService[]
}

function Incidents({ screen, page, services }: Props) {
  const query = new URL(screen.c.req.url).searchParams
  if (page.rows.length === 0 && query.size === 0) {
    return (
      <FirstStep screen={screen} path="incidents/new" text="Report the first">
        No incident has been reported yet. When something is wrong, report it: the page shows it, and subscribers are
        notified.
      </FirstStep>
    )
  }
  return (
    <>
      <TimelineFilters {...{ query, services }} states={stateChoices} problem={page.problem} />
      {page.rows.length === 0 ? (
        <p class="lead">
          No incident matches. <a href={screen.path('incidents')}>Show all</a>
        </p>
      ) : (
        <ul class="rows">
          {page.rows.map((incident) => (
            <IncidentRow {...{ screen, incident }} />
          ))}
        </ul>
      )}
      <PageLinks {...page} />
    </>
  )
}

function IncidentRow({ screen, incident }: Pick<Props, 'screen'> & { readonly incident: Row }) {
  const { id, title, status, impact, visibility, startedAt, services } = incident
  const names = services.slice(0, MAX_NAMES).map(({ service }) => service.name)
  return (
    <li id={id}>
      <a href={screen.path(`incidents/${id}`)}>{title}</a>
      <span class="row-facts">
        {visibility === 'PUBLIC' ? null : <strong>{visibilityNames[visibility]} · </strong>}
        <IncidentMark status={status} /> · {impactLabels[impact]}
        {names.length === 0 ? null : ` · ${names.join(', ')}${services.length > MAX_NAMES ? ', …' : ''}`} ·{' '}
        <Time at={startedAt} zone={screen.zone} />
      </span>
    </li>
  )
}

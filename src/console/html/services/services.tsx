import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import type { PageState, ServiceState } from '../../../status/page/page-state.ts'
import { reorderServices } from '../../../status/service/service.ts'
import { reorderServiceGroups } from '../../../status/service/service-group.ts'
import { listServiceGroups, listServices } from '../../../status/service/service-queries.ts'
import { ServiceMark } from '../../../status-page/html/status-mark.tsx'
import { serviceLabel } from '../../../status-page/view.ts'
import { readCurrentState } from '../frame/current-state.ts'
import { FirstStep } from '../frame/first-step.tsx'
import { newOrder, OrderButtons, OrderField, readMove } from '../frame/ordered-list.tsx'
import { NumberedPages, pageNumber } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

/** Services per page. */
const PER_PAGE = 50

/** Adds the list of services and groups, and the actions that reorder them. */
export function serviceListScreens({ get, action }: Screens): void {
  get('services', (screen) => showServices(screen, emptyForm))
  // For a reload after a refused order.
  get('services/order', (screen) => screen.c.redirect(screen.path('services'), 303))
  get('services/groups/order', (screen) => screen.c.redirect(screen.path('services'), 303))
  action('services/order', orderServices, showServices)
  action('services/groups/order', orderGroups, showServices)
}

/**
 * A button moves one service by one position; without a button, `ids` are the services of a list in their new order.
 */
async function orderServices(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { ctx, organization } = screen
  const services = await listServices(ctx, organization.id)
  const [id] = readMove(fields)
  const moved = services.find((service) => service.id === id)
  const siblings = services.filter(({ groupId }) => groupId === moved?.groupId)
  await reorderServices(ctx, { ids: newOrder(services, siblings, fields) })
  return `services?page=${pageNumber(fields.get('page'))}`
}

async function orderGroups(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { ctx, organization } = screen
  const groups = await listServiceGroups(ctx, organization.id)
  await reorderServiceGroups(ctx, { ids: newOrder(groups, groups, fields) })
  return 'services'
}

async function showServices(screen: Screen, state: FormState): Promise<Response> {
  const page = await readCurrentState(screen)
  const actions = (
    <>
      <a class="button" href={screen.path('services/new')}>
        Add a service
      </a>
      <a class="button quiet" href={screen.path('services/groups/new')}>
        Add a group
      </a>
    </>
  )
  return screen.show(
    {
      title: 'Services',
      section: 'services',
      content: <Services {...{ screen, page, state }} />,
      actions: (
        <>
          {screen.may('WRITE') ? actions : null}
          <a class="button quiet" href={screen.path('objectives')}>
            Objectives
          </a>
        </>
      ),
    },
    state,
  )
}

/** A group with its services on this page; null: the services without a group. */
interface Section {
  readonly group: PageState['groups'][number] | null
  readonly services: readonly ServiceState[]
}

/** Returns the part of the list that a page shows, group by group. */
function sectionsOf({ groups, services }: PageState, page: number): Section[] {
  const sections = [null, ...groups].map((group) => ({
    group,
    services: services.filter(({ groupId }) => groupId === (group?.id ?? null)),
  }))
  const shown = new Set(sections.flatMap((section) => section.services).slice((page - 1) * PER_PAGE, page * PER_PAGE))
  return sections
    .map((section) => ({ ...section, services: section.services.filter((service) => shown.has(service)) }))
    .filter(({ services, group }) => services.length > 0 || (group !== null && page === 1))
}

function Services({
  screen,
  page,
  state,
}: {
  readonly screen: Screen
  readonly page: PageState
  readonly state: FormState
}) {
  const number = pageNumber(screen.c.req.query('page'))
  if (page.services.length === 0 && page.groups.length === 0) {
    return (
      <FirstStep screen={screen} path="services/new" text="Add the first">
        A service is one line on your status page, such as “Website” or “API”. There is none yet.
      </FirstStep>
    )
  }
  const pages = Math.ceil(page.services.length / PER_PAGE)
  return (
    <>
      <FormProblem state={state} />
      {sectionsOf(page, number).map(({ group, services }) => (
        <section id={group?.id}>
          {group === null ? null : <GroupHead {...{ screen, group }} />}
          <OrderedList {...{ screen, services, number }} />
        </section>
      ))}
      <NumberedPages number={number} pages={pages} />
      {screen.may('WRITE') && page.groups.length > 1 ? <GroupOrder screen={screen} groups={page.groups} /> : null}
    </>
  )
}

function GroupHead({
  screen,
  group: { id, name },
}: {
  readonly screen: Screen
  readonly group: PageState['groups'][number]
}) {
  const path = screen.path(`services/groups/${id}`)
  return <h2>{screen.may('WRITE') ? <a href={path}>{name}</a> : name}</h2>
}

function OrderedList({
  screen,
  services,
  number,
}: {
  readonly screen: Screen
  readonly services: readonly ServiceState[]
  readonly number: number
}) {
  if (services.length === 0) return <p class="hint">No service is in this group.</p>
  const rows = services.map((service) => (
    <li id={service.id} data-status={service.shown}>
      <OrderField id={service.id} name={service.name} shown={screen.may('WRITE')} />
      <a href={screen.path(`services/${service.id}`)}>{service.name}</a>
      <ServiceMark status={service.shown} label={`${serviceLabel(service, screen.zone)}${byHand(service)}`} />
      <OrderButtons id={service.id} name={service.name} shown={screen.may('WRITE')} />
    </li>
  ))
  if (!screen.may('WRITE')) return <ul class="rows">{rows}</ul>
  return (
    <form method="post" action={screen.path('services/order')}>
      <input type="hidden" name="page" value={number} />
      <ul class="rows ordered">{rows}</ul>
    </form>
  )
}

function GroupOrder({ screen, groups }: { readonly screen: Screen; readonly groups: PageState['groups'] }) {
  return (
    <section>
      <h2>Order of the groups</h2>
      <form method="post" action={screen.path('services/groups/order')}>
        <ul class="rows ordered">
          {groups.map(({ id, name }) => (
            <li id={`order-${id}`}>
              <OrderField id={id} name={name} shown />
              <span>{name}</span>
              <OrderButtons id={id} name={name} shown />
            </li>
          ))}
        </ul>
      </form>
    </section>
  )
}

/** Explains that only people update the status. */
const byHand = ({ basis }: ServiceState) => (basis === 'OWNER' ? ', by hand' : '')

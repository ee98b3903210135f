import type { Page } from '../../../account/page/page.ts'
import { Invalid } from '../../../core/errors.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { updatePage } from '../../../status/page/page.ts'
import type { NamedService } from '../../../status/service/service-queries.ts'
import { listServiceGroups, listServices } from '../../../status/service/service-queries.ts'
import { newOrder, OrderButtons, OrderField, readMove } from '../frame/ordered-list.tsx'
import { NumberedPages, pageNumber } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { pageIn } from './page-fields.tsx'

/** Services per screen. */
const PER_SCREEN = 50

/** Adds the screen that orders the services of a page that shows only some. */
export function pageOrderScreens({ get, action }: Screens): void {
  get('pages/:id/order', (screen) => showOrder(screen, emptyForm))
  action('pages/:id/order', submitOrder, showOrder)
}

/**
 * A button moves one service by one position within its group; without a button, `ids` are services in their new order.
 */
async function submitOrder(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const page = await pageIn(screen)
  if (page.serviceIds === null) throw new Invalid('INVALID_INPUT', 'The page shows all services, in their own order.')
  const services = await readShown(screen, page)
  const [movedId] = readMove(fields)
  const moved = services.find(({ id }) => id === movedId)
  const siblings = services.filter(({ groupId }) => groupId === moved?.groupId)
  await updatePage(screen.ctx, { id: page.id, serviceIds: newOrder(services, siblings, fields) })
  return `pages/${page.id}/order?page=${pageNumber(fields.get('page'))}`
}

/** Reads the services of a page, in its order. */
async function readShown({ ctx }: Screen, { serviceIds, organizationId }: Page): Promise<NamedService[]> {
  const ids = serviceIds ?? []
  const services = await listServices(ctx, organizationId, ids)
  const byId = new Map(services.map((service) => [service.id, service]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

async function showOrder(screen: Screen, state: FormState): Promise<Response> {
  const page = await pageIn(screen)
  const settings = screen.path(page.isFirst ? 'page' : `pages/${page.id}`)
  const content = (
    <>
      <FormProblem state={state} />
      {page.serviceIds === null ? (
        <p class="lead">
          This page shows all services, in the order of <a href={screen.path('services')}>Services</a>. For an order of
          its own, choose services in its <a href={settings}>settings</a>.
        </p>
      ) : (
        await sections(screen, page)
      )}
    </>
  )
  const actions = (
    <>
      <a href={settings}>Settings</a> <a href={`/status/${page.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: `Order on ${page.name}`, section: 'page', content, actions }, state)
}

/** Renders the services by group, as the page shows them. */
async function sections(screen: Screen, page: Page) {
  const [shown, groups] = await Promise.all([
    readShown(screen, page),
    listServiceGroups(screen.ctx, page.organizationId),
  ])
  if (shown.length === 0) return <p class="lead">No service is chosen yet.</p>
  const grouped = [null, ...groups].map((group) => ({
    group,
    services: shown.filter(({ groupId }) => groupId === (group?.id ?? null)),
  }))
  const number = pageNumber(screen.c.req.query('page'))
  const here = new Set(
    grouped.flatMap(({ services }) => services).slice((number - 1) * PER_SCREEN, number * PER_SCREEN),
  )
  return (
    <>
      {grouped.map(({ group, services }) => (
        <OrderedServices
          {...{ screen, page, number }}
          name={group?.name ?? null}
          services={services.filter((service) => here.has(service))}
        />
      ))}
      <NumberedPages number={number} pages={Math.ceil(shown.length / PER_SCREEN)} />
    </>
  )
}

function OrderedServices({
  screen,
  page,
  name,
  services,
  number,
}: {
  readonly screen: Screen
  readonly page: Page
  /** The name of their group; null: they have none. */
  readonly name: string | null
  readonly services: readonly NamedService[]
  readonly number: number
}) {
  if (services.length === 0) return null
  return (
    <section>
      {name === null ? null : <h2>{name}</h2>}
      <form method="post" action={screen.path(`pages/${page.id}/order`)}>
        <input type="hidden" name="page" value={number} />
        <ul class="rows ordered">
          {services.map((service) => (
            <li id={service.id}>
              <OrderField id={service.id} name={service.name} shown />
              <span>{service.name}</span>
              <OrderButtons id={service.id} name={service.name} shown />
            </li>
          ))}
        </ul>
      </form>
    </section>
  )
}

import { NotFound } from '../../../core/errors.ts'
import type { Subscriber } from '../../../generated/prisma/client.ts'
import { ChannelKind } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import type { SubscriberFilter, SubscriberStateName } from '../../../notification/subscriber/list-filter.ts'
import { subscriberState } from '../../../notification/subscriber/list-filter.ts'
import { deleteSubscriber } from '../../../notification/subscriber/subscriber.ts'
import { exportSubscribers } from '../../../notification/subscriber/subscriber-export.ts'
import { pageableSubscribers, readSubscriberLabels } from '../../../notification/subscriber/subscriber-queries.ts'
import { privateHeaders } from '../../../people/html/frame.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { applyToEach, chosenIds } from '../frame/bulk.ts'
import { Choose, ChooseAll, chosenIn, DeletionForm } from '../frame/choose.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import type { ListPage } from '../frame/paging.tsx'
import { byCreation, choiceParam, FilterForm, PageLinks, queryOf, readListPage, textParam } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import type { NamedPage } from '../pages/page-choice.tsx'
import { PageChoice, readPageNames } from '../pages/page-choice.tsx'
import { channelNames, choicesOf, stopReasonNames, subscriberStateNames } from './subscriber-words.ts'

const states = Object.keys(subscriberStateNames) as SubscriberStateName[]

/** Adds the list of subscribers, its export, and the page that deletes some. */
export function subscriberScreens({ get, form, action }: Screens): void {
  get('subscribers', (screen) => showList(screen, emptyForm))
  get('subscribers/export.csv', sendExport)
  action(
    'subscribers/bulk',
    async ({ c, path }, sent) =>
      c.redirect(path(`subscribers/delete?${new URLSearchParams(chosenIds(sent).map((id) => ['ids', id]))}`), 303),
    showList,
  )
  form('subscribers/delete', showDeletion, async ({ ctx }, sent) => {
    await applyToEach(ctx, chosenIds(sent), deleteSubscriber)
    return 'subscribers'
  })
}

function filterOf({ c }: Screen): SubscriberFilter {
  const address = textParam(c, 'address')
  const channel = choiceParam(c, 'channel', Object.values(ChannelKind))
  const state = choiceParam(c, 'state', states)
  const pageId = textParam(c, 'pageId')
  return {
    ...(address && { address }),
    ...(channel && { channel }),
    ...(state && { state }),
    ...(pageId && { pageId }),
  }
}

/** Streams the subscribers that match the list's filter. */
function sendExport(screen: Screen): Response {
  const { c, ctx, organization } = screen
  const lines = exportSubscribers(ctx, filterOf(screen))
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await lines.return()
    },
  })
  return c.body(body, 200, {
    ...privateHeaders,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="subscribers-${organization.slug}.csv"`,
  })
}

async function showList(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx, organization } = screen
  const filter = filterOf(screen)
  const pages = await readPageNames(screen)
  const page = await readListPage(c, {
    path: screen.path('subscribers'),
    order: byCreation('Subscriber', 'desc', filter),
    ...pageableSubscribers(ctx, organization.id, filter),
  })
  const content = <SubscriberList {...{ screen, state, filter, pages, page }} />
  const actions = <Actions screen={screen} />
  return screen.show({ title: 'Subscribers', section: 'subscribers', content, actions }, state)
}

function Actions({ screen }: { readonly screen: Screen }) {
  return (
    <>
      {screen.may('WRITE') ? (
        <>
          <a class="button" href={screen.path('subscribers/new')}>
            Add
          </a>
          <a class="button quiet" href={screen.path('subscribers/import')}>
            Import
          </a>
        </>
      ) : null}
      <a class="button quiet" href={screen.path(`subscribers/export.csv${queryOf(screen.c)}`)} download>
        Export
      </a>
    </>
  )
}

interface SubscriberListProps {
  readonly screen: Screen
  readonly state: FormState
  readonly filter: SubscriberFilter
  readonly pages: readonly NamedPage[]
  readonly page: ListPage<Subscriber>
}

function SubscriberList({ screen, state, filter, pages, page }: SubscriberListProps) {
  const isFiltered = Object.keys(filter).length > 0
  if (page.rows.length === 0 && !isFiltered) {
    return (
      <FirstStep screen={screen} path="subscribers/new" text="Add the first">
        No one has subscribed yet. People subscribe on your status page, or you add them.
      </FirstStep>
    )
  }
  return (
    <>
      <Filters filter={filter} pages={pages} path={screen.path('subscribers')} />
      {page.rows.length === 0 ? (
        <p class="lead">
          No subscriber matches. <a href={screen.path('subscribers')}>Show all</a>
        </p>
      ) : (
        <form method="post" action={screen.path(`subscribers/bulk${queryOf(screen.c)}`)} id="chosen">
          <FormProblem state={state} />
          {screen.may('WRITE') ? <BulkActions /> : null}
          <ul class="rows">
            {page.rows.map((subscriber) => (
              <SubscriberRow {...{ screen, subscriber, pages }} />
            ))}
          </ul>
        </form>
      )}
      <PageLinks {...page} />
    </>
  )
}

function Filters({ filter, pages, path }: Pick<SubscriberListProps, 'filter' | 'pages'> & { readonly path: string }) {
  const { address, channel, state, pageId } = filter
  const common = { state: emptyForm }
  return (
    <FilterForm action={path}>
      <InputField label="Search" name="address" type="search" {...common} value={address} />
      <SelectField label="Channel" name="channel" {...common} value={channel?.[0]} choices={choicesOf(channelNames)} />
      <SelectField
        label="State"
        name="state"
        {...common}
        value={state?.[0]}
        choices={choicesOf(subscriberStateNames)}
      />
      <PageChoice pages={pages} state={emptyForm} value={pageId} all="Any" />
    </FilterForm>
  )
}

function BulkActions() {
  return (
    <p class="actions bulk">
      <ChooseAll />
      <button type="submit" class="danger">
        Remove
      </button>
    </p>
  )
}

function SubscriberRow({
  screen,
  subscriber,
  pages,
}: Pick<SubscriberListProps, 'screen' | 'pages'> & { readonly subscriber: Subscriber }) {
  const { id, label, channel, createdAt, stopReason, pageId } = subscriber
  const page = pages.length > 1 ? pages.find((each) => each.id === (pageId ?? screen.organization.pageId)) : undefined
  return (
    <li id={id} class="chosen-row">
      {screen.may('WRITE') ? <Choose id={id} name={label} /> : null}
      <div class="row-about">
        <span>{label}</span>
        <span class="row-facts">
          {channelNames[channel]} · {subscriberStateNames[subscriberState(subscriber)]}
          {stopReason === null ? '' : `: ${stopReasonNames[stopReason]}`} · since{' '}
          <Time at={createdAt} zone={screen.zone} />
          {page ? ` · ${page.name}` : ''} ·{' '}
          <a href={screen.path(`deliveries?subscriberId=${id}`)} aria-label={`Deliveries to ${label}`}>
            Deliveries
          </a>
        </span>
      </div>
    </li>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const found = await readSubscriberLabels(ctx, organization.id, chosenIn(screen, state))
  if (found.length === 0) throw new NotFound('Subscriber not found.')
  const title = found.length === 1 ? 'Remove this subscriber?' : `Remove ${found.length} subscribers?`
  const content = (
    <DeletionForm
      {...{ state, button: 'Remove', back: screen.path('subscribers') }}
      items={found.map(({ id, label }) => ({ id, name: label }))}
      note="Their deliveries are deleted too. People who have unsubscribed stay unsubscribed. This cannot be undone."
    />
  )
  return screen.show({ title, section: 'subscribers', content }, state)
}

import { validIdOrEmpty } from '../../../core/id.ts'
import { DAY } from '../../../core/time.ts'
import { startOfDay } from '../../../core/time-zone.ts'
import type { EventSubject } from '../../../event-log/event-queries.ts'
import { readEventSubjects } from '../../../event-log/event-queries.ts'
import type { Delivery, Subscriber } from '../../../generated/prisma/client.ts'
import { ChannelKind, DeliveryStatus } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { redeliver } from '../../../notification/delivery/delivery.ts'
import { findDelivery, pageableDeliveries } from '../../../notification/delivery/delivery-queries.ts'
import type { DeliveryFilter } from '../../../notification/delivery/list-filter.ts'
import { readAttempts } from '../../../notification/queue/attempt.ts'
import { hasSubscribers } from '../../../notification/subscriber/subscriber-queries.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import type { ListPage } from '../frame/paging.tsx'
import { byCreation, choiceParam, FilterForm, PageLinks, readListPage, textParam } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { kindName } from '../organization/log.tsx'
import { channelNames, choicesOf, deliveryStatusNames } from './subscriber-words.ts'

type Listed = Delivery & { readonly subscriber: Pick<Subscriber, 'label'> }

/** Adds the list of deliveries, and the page of one with its attempts. */
export function deliveryScreens({ get, action }: Screens): void {
  get('deliveries', showList)
  get('deliveries/:id', (screen) => showDelivery(screen, emptyForm))
  action(
    'deliveries/:id/redeliver',
    async ({ ctx, c }) => `deliveries/${(await redeliver(ctx, c.req.param('id') ?? '')).id}`,
    showDelivery,
  )
}

/** Reads the filter; days are in the organization's time zone, and the last one is included. */
function filterOf({ c, organization }: Screen): DeliveryFilter {
  const { timeZone } = organization
  const status = choiceParam(c, 'status', Object.values(DeliveryStatus))
  const channel = choiceParam(c, 'channel', Object.values(ChannelKind))
  const subscriberId = textParam(c, 'subscriberId')
  const [from, to] = [dayOf(textParam(c, 'from')), dayOf(textParam(c, 'to'))]
  return {
    ...(status && { status }),
    ...(channel && { channel }),
    ...(subscriberId && { subscriberId: validIdOrEmpty(subscriberId) }),
    ...(from && { createdAfter: startOfDay(timeZone, from) }),
    ...(to && { createdBefore: startOfDay(timeZone, new Date(to.getTime() + DAY)) }),
  }
}

/** Returns a day such as `2026-11-20`, as midnight UTC; null for any other text. */
function dayOf(text: string | undefined): Date | null {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const day = new Date(`${text}T00:00:00Z`)
  return Number.isNaN(day.getTime()) ? null : day
}

async function showList(screen: Screen): Promise<Response> {
  const { c, ctx, organization } = screen
  const filter = filterOf(screen)
  const page = await readListPage(c, {
    path: screen.path('deliveries'),
    order: byCreation('Delivery', 'desc', filter),
    ...pageableDeliveries(ctx, organization.id, filter),
  })
  const events = await readEvents(screen, page.rows)
  const isFirstSubscribed = page.rows.length === 0 && (await hasSubscribers(ctx, organization.id))
  const content = <DeliveryList {...{ screen, filter, page, events }} hasSubscribers={isFirstSubscribed} />
  return screen.show({ title: 'Deliveries', section: 'deliveries', content })
}

type Events = ReadonlyMap<number, EventSubject>

const readEvents = ({ ctx, organization }: Screen, deliveries: readonly Delivery[]): Promise<Events> =>
  readEventSubjects(
    ctx,
    organization.id,
    deliveries.flatMap(({ seq }) => seq ?? []),
  )

interface DeliveryListProps {
  readonly screen: Screen
  readonly filter: DeliveryFilter
  readonly page: ListPage<Listed>
  readonly events: Events
  /** Whether there are subscribers; only read if there are no deliveries. */
  readonly hasSubscribers: boolean
}

function DeliveryList({ screen, filter, page, events, hasSubscribers }: DeliveryListProps) {
  const isFiltered = Object.keys(filter).length > 0
  if (page.rows.length === 0 && !isFiltered) {
    return hasSubscribers ? (
      <FirstStep screen={screen} path="incidents/new" text="Report an incident">
        Nothing has been sent yet. Subscribers are notified about incidents and maintenance.
      </FirstStep>
    ) : (
      <FirstStep screen={screen} path="subscribers/new" text="Add a subscriber">
        Nothing has been sent yet, because no one has subscribed.
      </FirstStep>
    )
  }
  return (
    <>
      <Filters screen={screen} filter={filter} />
      {page.rows.length === 0 ? (
        <p class="lead">
          No delivery matches. <a href={screen.path('deliveries')}>Show all</a>
        </p>
      ) : (
        <ul class="rows">
          {page.rows.map((delivery) => (
            <DeliveryRow {...{ screen, delivery, events }} />
          ))}
        </ul>
      )}
      <PageLinks {...page} />
    </>
  )
}

function Filters({ screen, filter }: Pick<DeliveryListProps, 'screen' | 'filter'>) {
  const { status, channel, subscriberId } = filter
  const common = { state: emptyForm }
  const day = (name: string) => textParam(screen.c, name)
  return (
    <FilterForm action={screen.path('deliveries')}>
      <SelectField
        label="State"
        name="status"
        {...common}
        value={status?.[0]}
        choices={choicesOf(deliveryStatusNames)}
      />
      <SelectField label="Channel" name="channel" {...common} value={channel?.[0]} choices={choicesOf(channelNames)} />
      <InputField label="From" name="from" type="date" {...common} value={day('from')} />
      <InputField label="To" name="to" type="date" {...common} value={day('to')} />
      {subscriberId ? <input type="hidden" name="subscriberId" value={subscriberId} /> : null}
    </FilterForm>
  )
}

const outcomeStates = { PENDING: 'PENDING', DELIVERED: 'UP', FAILED: 'DOWN', CANCELLED: 'PAUSED' } as const

interface DeliveryProps {
  readonly screen: Screen
  readonly delivery: Listed
  readonly events: Events
}

function DeliveryRow({ screen, delivery, events }: DeliveryProps) {
  const { id, status, channel, subscriber, createdAt, attempts } = delivery
  const last = readAttempts(attempts).at(-1)
  return (
    <li id={id} data-state={outcomeStates[status]}>
      <div class="row-about">
        <a href={screen.path(`deliveries/${id}`)}>{subscriber.label}</a>
        <span class="row-facts">
          {subjectOf(delivery, events)} · {channelNames[channel]} · <Time at={createdAt} zone={screen.zone} />
          {last && !last.delivered ? ` · ${last.message}` : ''}
        </span>
      </div>
      <span class="state">{deliveryStatusNames[status]}</span>
    </li>
  )
}

function subjectOf({ seq }: Delivery, events: Events): string {
  const event = seq === null ? undefined : events.get(seq)
  if (event) return `${kindName(event.kind)}: ${event.subjectName}`
  return seq === null ? 'About the subscription' : 'An event that was deleted'
}

async function showDelivery(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx, organization } = screen
  const delivery: Listed = await findDelivery(ctx, organization.id, c.req.param('id') ?? '')
  const events = await readEvents(screen, [delivery])
  const content = <DeliveryPage {...{ screen, delivery, events }} state={state} />
  const title = `Delivery to ${delivery.subscriber.label}`
  return screen.show({ title, section: 'deliveries', content }, state)
}

function DeliveryPage({ screen, delivery, events, state }: DeliveryProps & { readonly state: FormState }) {
  const { id, status, channel, createdAt, deferredUntil, dueAt } = delivery
  return (
    <>
      <FormProblem state={state} />
      <section data-state={outcomeStates[status]}>
        <p class="lead">
          <span class="state">{deliveryStatusNames[status]}</span>
        </p>
        <p>{subjectOf(delivery, events)}</p>
        <p class="row-facts">
          {channelNames[channel]}, created <Time at={createdAt} zone={screen.zone} />
        </p>
        {deferredUntil !== null && status === 'PENDING' ? (
          <p>
            Deferred until <Time at={deferredUntil} zone={screen.zone} />, because an email limit was reached.
          </p>
        ) : null}
        {status === 'PENDING' && dueAt !== null ? (
          <p class="row-facts">
            Next attempt <Time at={dueAt} zone={screen.zone} />
          </p>
        ) : null}
      </section>
      {status !== 'PENDING' && screen.may('WRITE') ? (
        <form method="post" action={screen.path(`deliveries/${id}/redeliver`)} class="actions bulk">
          <button type="submit">Send again</button>
        </form>
      ) : null}
      <Attempts screen={screen} delivery={delivery} />
    </>
  )
}

function Attempts({ screen, delivery }: Pick<DeliveryProps, 'screen' | 'delivery'>) {
  const attempts = readAttempts(delivery.attempts).toReversed()
  return (
    <section>
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <p>None yet.</p>
      ) : (
        <Table label="Attempts" heads={['Time', 'Outcome', 'Answer', 'Duration']}>
          {attempts.map(({ at, delivered, status, message, durationMs }) => (
            <tr data-state={delivered ? 'UP' : 'DOWN'}>
              <td>
                <Time at={at} zone={screen.zone} />
              </td>
              <td class="state">{delivered ? 'Accepted' : 'Failed'}</td>
              <td>{[status === null ? '' : String(status), message].filter(Boolean).join(' ')}</td>
              <td>{durationMs} ms</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

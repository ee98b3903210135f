import { recordedActorNames } from '../../../account/actor-name.ts'
import { decodeCursor, encodeCursor } from '../../../event-log/event.ts'
import { listEvents } from '../../../event-log/event-queries.ts'
import type { Event } from '../../../generated/prisma/client.ts'
import { EventKind } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { SelectField } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

const PAGE_SIZE = 100

/** The actors, by the id of a key or a person. */
type Names = ReadonlyMap<string, string>

/** Adds the log of changes and their actors. */
export function logScreens({ get }: Screens): void {
  get('log', async (screen) => {
    const { c, ctx, organization } = screen
    const kind = Object.values(EventKind).find((known) => known === c.req.query('kind'))
    const before = decodeCursor(c.req.query('before') ?? '')
    const events = await listEvents(ctx, organization.id, { kind, before, limit: PAGE_SIZE })
    const names = await recordedActorNames(ctx, organization.id, events)
    const fields = new URLSearchParams(kind === undefined ? [] : [['kind', kind]])
    const content = <Log {...{ screen, names, state: { fields, problem: null } }} events={events} />
    return screen.show({ title: 'Log', section: 'log', content })
  })
}

function Log({
  screen,
  events,
  names,
  state,
}: {
  readonly screen: Screen
  readonly events: readonly Event[]
  readonly names: Names
  readonly state: FormState
}) {
  const kinds = Object.values(EventKind).map((value) => ({ value, text: kindName(value) }))
  const last = events.length === PAGE_SIZE ? events.at(-1) : undefined
  const kind = state.fields.get('kind')
  const more = last && `log?before=${encodeCursor(last.seq)}${kind === null ? '' : `&kind=${kind}`}`
  return (
    <>
      <form method="get" class="filters">
        <SelectField label="Show" name="kind" state={state} choices={[{ value: '', text: 'Everything' }, ...kinds]} />
        <button type="submit" class="quiet">
          Filter
        </button>
      </form>
      <Table label="Log" heads={['When', 'What', 'About', 'Who']}>
        {events.map((event) => (
          <tr id={`event-${event.seq}`}>
            <td>
              <Time at={event.at} zone={screen.zone} />
            </td>
            <td>
              {kindName(event.kind)}
              {event.notifySubscribers ? null : ' (subscribers not notified)'}
            </td>
            <td>{event.subjectName}</td>
            <td>{actorName(event, names)}</td>
          </tr>
        ))}
      </Table>
      {more === undefined ? null : (
        <p class="pages">
          <a href={screen.path(more)} rel="next">
            Older
          </a>
        </p>
      )}
    </>
  )
}

/** Formats a kind for display: `INCIDENT_CREATED` is `Incident created`. */
export function kindName(kind: EventKind): string {
  const words = kind.toLowerCase().replaceAll('_', ' ').replace('api key', 'API key')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function actorName({ actorKind, actorKeyId, actorUserId }: Event, names: Names): string {
  const person = actorUserId === null ? null : (names.get(actorUserId) ?? 'A former person')
  switch (actorKind) {
    case 'USER':
      return person ?? 'A person'
    case 'OPERATOR':
      return person === null ? 'Operator' : `${person} (operator)`
    case 'API_KEY':
      return `Key ${names.get(actorKeyId ?? '') ?? ''}`.trim()
    case 'SYSTEM':
      return 'Allclear'
    case 'VISITOR':
      return 'A visitor'
  }
}

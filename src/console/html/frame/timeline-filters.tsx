import type { DomainError } from '../../../core/errors.ts'
import { Invalid } from '../../../core/errors.ts'
import { containsText, searchText } from '../../../core/list-filter.ts'
import { DAY } from '../../../core/time.ts'
import { startOfDay } from '../../../core/time-zone.ts'
import { invalid } from '../../../core/validation.ts'
import type { Choice } from '../../../http/page/form.tsx'
import { FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import type { Zone } from '../../../status-page/time-format.ts'
import type { OfferedService } from './offered-service.ts'
import { MAX_OFFERED } from './offered-service.ts'
import type { ListPage } from './paging.tsx'

/** A page of a list, and why its filter was refused; null: it was accepted. */
export interface FilteredPage<Row> extends ListPage<Row> {
  readonly problem: DomainError | null
}

/** Reads a page of a list; an invalid filter gives an empty one. */
export async function readFiltered<Row>(read: () => Promise<ListPage<Row>>): Promise<FilteredPage<Row>> {
  try {
    return { ...(await read()), problem: null }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { rows: [], previous: null, next: null, problem: error }
  }
}

/** Renders the filters of a list of incidents or maintenance. */
export function TimelineFilters({
  query,
  problem,
  states,
  services,
}: {
  /** The query of the address. */
  readonly query: URLSearchParams
  readonly problem: DomainError | null
  readonly states: readonly Choice[]
  readonly services: readonly OfferedService[]
}) {
  const state = { fields: query, problem }
  // If there are many services, it searches by name; a link may contain a name.
  const named = services.filter(({ id }) => id === query.get('serviceId'))
  const offered = named.length > 0 && services.length > MAX_OFFERED ? named : services
  const ofServices = [{ value: '', text: 'All' }, ...offered.map(({ id, name }) => ({ value: id, text: name }))]
  return (
    <form method="get" class="filters" id="filters">
      <FormProblem state={state} fields={['service', 'from', 'to', 'text']} />
      <SelectField label="State" name="state" state={state} choices={states} />
      {offered.length > MAX_OFFERED ? (
        <InputField label="Service" name="service" type="search" state={state} maxlength={100} />
      ) : (
        <SelectField label="Service" name="serviceId" state={state} choices={ofServices} />
      )}
      <InputField label="From" name="from" type="date" state={state} />
      <InputField label="To" name="to" type="date" state={state} />
      <InputField label="Text" name="text" type="search" state={state} maxlength={100} />
      <button type="submit" class="quiet">
        Show
      </button>
    </form>
  )
}

/**
 * Returns the condition for the service name in the filter; null: none.
 * @throws Invalid for a long one.
 */
export function ofServiceNamed({ service }: Readonly<Record<string, string>>) {
  const text = searchText('service', service)
  return text === null ? {} : { services: { some: { service: { name: containsText(text) } } } }
}

/**
 * Reads a range of days from the fields `from` and `to` of an address, in a time zone, both included.
 * @returns its start, and its exclusive end; null: none.
 * @throws Invalid when it ends before it starts.
 */
export function dayRange(
  { from, to }: Readonly<Record<string, string>>,
  zone: Zone,
): { readonly after: Date | null; readonly before: Date | null } {
  const [first, last] = [dayOf(from), dayOf(to)]
  if (first > last) throw invalid([{ path: ['to'], message: 'must not be before the first day' }])
  const startOf = (day: number) => (Number.isNaN(day) ? null : startOfDay(zone.name, new Date(day)))
  return { after: startOf(first), before: startOf(last + DAY) }
}

const dayOf = (text = '') => (/^[1-9]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN)

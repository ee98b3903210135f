import type { Child } from 'hono/jsx'
import type { ServiceStatus } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { fieldProblem, InputField, isFieldLocked } from '../../../http/page/form.tsx'
import { listServices } from '../../../status/service/service-queries.ts'
import { incidentStatuses } from '../../../status/service/service-status.ts'
import { serviceStatusLabels } from '../../../status-page/view.ts'
import { CurrentValue, currentValue } from '../frame/edit-fields.tsx'
import { ManyCheckboxes, namesInWords, readChosen } from '../frame/many-choices.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import { MAX_OFFERED } from '../frame/offered-service.ts'
import type { Screen } from '../frame/screen.tsx'

/** Reads the names of all services, in page order. */
export function readServiceNames({ ctx, organization }: Screen): Promise<OfferedService[]> {
  return listServices(ctx, organization.id)
}

/** Reads the selected statuses from the fields of `ServiceStatusFields`. */
export function readServiceStatuses(fields: URLSearchParams): { serviceId: string; status: string }[] {
  return [...fields].flatMap(([name, status]) =>
    name.startsWith('services.') && status !== '' ? [{ serviceId: name.slice('services.'.length), status }] : [],
  )
}

interface Props {
  readonly state: FormState
  readonly services: readonly OfferedService[]
}

/**
 * Renders a choice of status per service.
 * @param chosen the statuses before any input.
 */
export function ServiceStatusFields({
  state,
  services,
  chosen,
  affected,
  shownNow,
  isOutdated = false,
}: Props & {
  readonly chosen: ReadonlyMap<string, ServiceStatus>
  /** For an update, the statuses that stay if nothing is selected; absent: no service is affected yet. */
  readonly affected?: ReadonlyMap<string, ServiceStatus>
  /** What the page shows for services with a problem, to say beside each; absent: nothing. */
  readonly shownNow?: ReadonlyMap<string, string>
  /** Whether another person has changed the incident in the meantime. */
  readonly isOutdated?: boolean
}) {
  if (services.length === 0) return null
  const typed = new Map(readServiceStatuses(state.fields).map(({ serviceId, status }) => [serviceId, status]))
  const statusOf = (id: string) => (state.fields.size > 0 ? typed.get(id) : chosen.get(id)) ?? ''
  const isNamed = (id: string) => statusOf(id) !== '' || affected?.has(id) === true
  const offered = offer(services, isNamed, state)
  const problem = fieldProblem(state, 'services')
  const isListed = (id: string) => isNamed(id) || shownNow?.has(id) === true
  const named = offered.filter(({ id }) => isListed(id))
  const others = offered.filter(({ id }) => !isListed(id))
  const rows = (of: readonly OfferedService[]) =>
    of.map((service) => (
      <StatusField
        service={service}
        status={statusOf(service.id)}
        unchanged={unchanged(service.id)}
        stays={affected?.has(service.id) === true}
        shownNow={shownNow?.get(service.id)}
        current={isOutdated ? affected?.get(service.id) : undefined}
      />
    ))
  const unchanged = (id: string) => {
    const stays = affected?.get(id)
    if (stays !== undefined) return `${serviceStatusLabels[stays]} (stays)`
    return affected === undefined ? 'Not affected' : 'No change'
  }
  const isShort = offered.length <= 6 && services.length <= MAX_OFFERED
  return (
    <fieldset class="form-field service-statuses" disabled={isFieldLocked(state, 'services')}>
      <legend>Affected services</legend>
      {problem === null ? null : <p class="problem">{problem}</p>}
      {isShort ? rows(offered) : rows(named)}
      {isShort || (others.length === 0 && services.length <= MAX_OFFERED) ? null : (
        <details open={state.fields.has('find')}>
          <summary>{named.length === 0 ? 'Choose services' : 'Other services'}</summary>
          <Finder state={state} total={services.length} />
          {rows(others)}
        </details>
      )}
      <Publication
        chosen={services.flatMap(({ id, name }) => {
          const status = statusOf(id)
          const label = serviceStatusLabels[status as ServiceStatus] ?? (isNamed(id) ? unchanged(id) : undefined)
          return label === undefined ? [] : [`${name}: ${label}`]
        })}
      />
    </fieldset>
  )
}

/**
 * Shows what the form will publish, service by service. The script (`browser/publication.ts`) follows the choices; without
 * it, the preview shows the new ones.
 */
function Publication({ chosen }: { readonly chosen: readonly string[] }) {
  return (
    <div class="publication" id="publication" role="status">
      <p>Will be published for:</p>
      <ul>
        {chosen.map((each) => (
          <li>{each}</li>
        ))}
      </ul>
      <p class="hint">Without a service, only the impact changes the status of the page.</p>
    </div>
  )
}

/** All services if they are few; otherwise those that are named or found. */
function offer(services: readonly OfferedService[], isNamed: (id: string) => boolean, { fields }: FormState) {
  if (services.length <= MAX_OFFERED) return services
  const text = soughtText({ fields })
  const found = services.filter(({ id, name }) => !isNamed(id) && text !== '' && name.toLowerCase().includes(text))
  const named = services.filter(({ id }) => isNamed(id))
  return [...named, ...found.slice(0, MAX_OFFERED)]
}

const soughtText = ({ fields }: Pick<FormState, 'fields'>) => fields.get('serviceText')?.trim().toLowerCase() ?? ''

/** Finds services by name without a script: the form is only sent to its own page. */
function Finder({ state, total }: { readonly state: FormState; readonly total: number }) {
  if (total <= MAX_OFFERED) return null
  return (
    <>
      <InputField label={`Part of a name (${total} services)`} name="serviceText" state={state} autocomplete="off" />
      <button type="submit" name="find" value="true" class="quiet" formnovalidate>
        Find
      </button>
    </>
  )
}

function StatusField({
  service,
  status,
  unchanged,
  stays,
  shownNow,
  current,
}: {
  readonly service: OfferedService
  readonly status: string
  /** The label if nothing is selected. */
  readonly unchanged: string
  /** Whether the incident affects it, also if nothing is selected. */
  readonly stays: boolean
  /** What the page shows for it; absent: no problem. */
  readonly shownNow?: string | undefined
  /** The status that another person has set; absent: none. */
  readonly current?: ServiceStatus | undefined
}) {
  const name = `services.${service.id}`
  return (
    <div class="service-status">
      <label for={name}>{service.name}</label>
      <select id={name} name={name} data-stays={stays ? '' : undefined}>
        <option value="">{unchanged}</option>
        {incidentStatuses.map((value) => (
          <option value={value} selected={value === status}>
            {serviceStatusLabels[value]}
          </option>
        ))}
      </select>
      {shownNow === undefined ? null : <p class="hint shown-now">{shownNow}</p>}
      {current === undefined || status === '' || status === current ? null : (
        <p class="hint">
          <CurrentValue>{serviceStatusLabels[current]}</CurrentValue>
        </p>
      )}
    </div>
  )
}

/**
 * Renders a choice of services.
 * @param chosen those before any input.
 */
export function ServiceChoice({
  state,
  services,
  chosen,
  hint,
}: Props & { readonly chosen: readonly string[]; readonly hint?: Child }) {
  if (services.length === 0) return null
  const typed = new Set(state.fields.has('serviceIds.shown') ? readServiceIds(state.fields) : chosen)
  const offered = offer(services, (id) => typed.has(id), state)
  const text = soughtText(state)
  return (
    <>
      <ManyCheckboxes
        label="Services"
        name="serviceIds"
        state={state}
        hint={hint}
        values={chosen}
        choices={offered.map(({ id, name }) => ({ value: id, text: name }))}
        isFound={({ text: name }) => text !== '' && name.toLowerCase().includes(text)}
      />
      <Finder state={state} total={services.length} />
    </>
  )
}

/** Reads the selected services from the fields of `ServiceChoice`. */
export const readServiceIds = (fields: URLSearchParams): string[] => readChosen(fields, 'serviceIds')

/** Returns the hint of `ServiceChoice`, or the services that another person has selected, as in `currentValue`. */
export function currentServices(
  state: FormState,
  version: number,
  services: readonly OfferedService[],
  chosen: readonly string[],
): Child | undefined {
  const names = services.filter(({ id }) => chosen.includes(id)).map(({ name }) => name)
  const typed = readServiceIds(state.fields)
  return currentValue(state, version, { name: 'serviceIds', value: chosen, typed, shown: namesInWords(names) })
}

/** Whether a form only requests a preview, services or a template. */
export function isDraft(fields: URLSearchParams): boolean {
  return fields.has('preview') || fields.has('find') || usesTemplate(fields)
}

/** Whether a form requests the texts of its selected template. */
export function usesTemplate(fields: URLSearchParams): boolean {
  return fields.has('use') && Boolean(fields.get('templateId'))
}

import { nameText } from '../../../core/validation.ts'
import type { Service } from '../../../generated/prisma/client.ts'
import { ServiceStatus } from '../../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { InputField, SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import { listMonitorsOfService } from '../../../monitoring/monitor/monitor-queries.ts'
import { createService, deleteService, findService, updateService } from '../../../status/service/service.ts'
import { countServiceUses, listServiceGroups } from '../../../status/service/service-queries.ts'
import { statedStatus } from '../../../status/service/statement.ts'
import { serviceStatusLabels } from '../../../status-page/view.ts'
import { ConfirmDeletion, currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { monitorStateNames } from '../monitors/monitor-words.ts'

/** The maximum number of monitors listed with their service. */
const MAX_MONITORS = 100

/** Adds the pages that create, edit and delete a service. */
export function serviceScreens({ form }: Screens): void {
  form('services/new', showNew, async ({ ctx }, { fields }) => {
    await createService(ctx, { ...readFields(fields), status: fields.get('status') || null })
    return 'services'
  })
  form('services/:id', showService, submitService)
  form('services/:id/delete', showDeletion, async (screen) => {
    await deleteService(screen.ctx, idIn(screen))
    return 'services'
  })
}

/** Reads the common fields of new and existing services. */
function readFields(fields: URLSearchParams) {
  return {
    name: fields.get('name') ?? '',
    groupId: fields.get('groupId') || null,
    description: fields.get('description') ?? '',
  }
}

async function submitService(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const isUnstated = fields.has('status')
  await updateService(screen.ctx, {
    id: idIn(screen),
    ...withoutLocked(readFields(fields), fields),
    ...(isUnstated
      ? { status: fields.get('status') || null }
      : { statusOverride: fields.get('statusOverride') || null }),
    version: readVersion(fields),
  })
  return 'services'
}

const readGroups = ({ ctx, organization }: Screen) => listServiceGroups(ctx, organization.id)

type Groups = Awaited<ReturnType<typeof readGroups>>

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const groups = await readGroups(screen)
  const content = (
    <form method="post" class="stack" id="edit">
      <Fields state={state} service={null} groups={groups} />
      <FirstStatus state={state} value="OPERATIONAL" />
      <p class="actions">
        <button type="submit">Add</button>
        <a href={screen.path('services')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Add a service', section: 'services', content }, state)
}

async function showService(screen: Screen, state: FormState): Promise<Response> {
  const service = await findService(screen.ctx, screen.organization.id, idIn(screen))
  const [lock, groups, monitors] = await Promise.all([
    readLock(screen, service.id, state),
    readGroups(screen),
    listMonitorsOfService(screen.ctx, screen.organization.id, service.id, MAX_MONITORS),
  ])
  const content = (
    <>
      <ManagedNote screen={screen} managed={lock.managed} />
      {screen.may('WRITE') ? (
        <ServiceForm {...{ screen, service, groups }} isWatched={monitors.length > 0} state={lock.state} />
      ) : (
        <p class="lead">{service.description}</p>
      )}
      <Monitors {...{ screen, monitors }} />
    </>
  )
  const links = (
    <>
      <a class="button quiet" href={screen.path(`incidents/new?service=${service.id}`)}>
        Report an incident
      </a>
      <a class="button quiet" href={screen.path(`services/${service.id}/delete`)}>
        Delete
      </a>
    </>
  )
  const actions = screen.may('WRITE') ? links : undefined
  return screen.show({ title: service.name, section: 'services', content, actions }, state)
}

function ServiceForm({
  screen,
  state,
  service,
  isWatched,
  groups,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly service: Service
  /** Whether it has monitors. */
  readonly isWatched: boolean
  readonly groups: Groups
}) {
  const { statusOverride, version } = service
  const isUnstated = !isWatched && statedStatus(service) === null
  const automatic = { value: '', text: 'By its incidents, maintenance and monitors' }
  const byHand = Object.values(ServiceStatus).map((value) => ({
    value,
    text: `${serviceStatusLabels[value]}, by hand`,
  }))
  return (
    <form method="post" class="stack" id="edit">
      <VersionField state={state} version={version} />
      <LockedFields state={state} />
      <Fields state={state} service={service} groups={groups} />
      {isUnstated ? (
        <FirstStatus state={state} value="" />
      ) : (
        <SelectField
          label="Status"
          name="statusOverride"
          state={state}
          value={statusOverride ?? ''}
          choices={[automatic, ...byHand]}
          hint={currentValue(state, version, {
            name: 'statusOverride',
            value: statusOverride ?? '',
            shown: statusOverride === null ? automatic.text : serviceStatusLabels[statusOverride],
          })}
        />
      )}
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path('services')}>Cancel</a>
      </p>
    </form>
  )
}

/** Asks for the status of a service that has none. Unlike an override, “Operational” lets incidents change it. */
function FirstStatus({ state, value }: { readonly state: FormState; readonly value: ServiceStatus | '' }) {
  const stated = Object.values(ServiceStatus).map((status) => ({ value: status, text: serviceStatusLabels[status] }))
  return (
    <SelectField
      label="Status"
      name="status"
      state={state}
      value={value}
      choices={[...stated, { value: '', text: 'None yet' }]}
      hint="With “None yet”, your page says so until you state one, or a monitor has a result."
    />
  )
}

/**
 * The fields of new and existing services.
 * @param service null: a new one.
 */
function Fields({
  state,
  service,
  groups,
}: {
  readonly state: FormState
  readonly service: Service | null
  readonly groups: Groups
}) {
  const version = service?.version ?? 0
  const now = (name: string, value: string) => currentValue(state, version, { name, value })
  const { name = '', groupId = null, description = '' } = service ?? {}
  const groupName = groups.find(({ id }) => id === groupId)?.name ?? 'no group'
  const choices = [{ value: '', text: 'No group' }, ...groups.map((group) => ({ value: group.id, text: group.name }))]
  return (
    <>
      <EditProblem
        state={state}
        version={version}
        fields={['name', 'groupId', 'description', 'statusOverride', 'status']}
      />
      <InputField
        label="Name"
        name="name"
        state={state}
        value={name}
        autofocus={service === null}
        {...textRules(nameText)}
        autocomplete="off"
        hint={now('name', name)}
      />
      <TextField
        label="Description"
        name="description"
        state={state}
        value={description}
        rows={2}
        maxlength={2000}
        hint={now('description', description)}
      />
      {groups.length === 0 ? null : (
        <SelectField
          label="Group"
          name="groupId"
          state={state}
          value={groupId ?? ''}
          choices={choices}
          hint={currentValue(state, version, { name: 'groupId', value: groupId ?? '', shown: groupName })}
        />
      )}
    </>
  )
}

function Monitors({
  screen,
  monitors,
}: {
  readonly screen: Screen
  readonly monitors: readonly {
    readonly id: string
    readonly name: string
    readonly state: keyof typeof monitorStateNames
  }[]
}) {
  if (monitors.length === 0) return null
  return (
    <section>
      <h2>Monitors</h2>
      <ul class="rows">
        {monitors.map(({ id, name, state }) => (
          <li id={id} data-state={state}>
            <a href={screen.path(`monitors/${id}`)}>{name}</a>
            <span class="state">{monitorStateNames[state]}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, name } = await findService(screen.ctx, screen.organization.id, idIn(screen))
  const { monitors, incidents, maintenances, subscribers } = await countServiceUses(screen.ctx, id)
  const lines = [
    monitors > 0 && `${count(monitors, 'monitor')} will continue without a service.`,
    incidents > 0 && `${count(incidents, 'incident')} will stay without it.`,
    maintenances > 0 && `${count(maintenances, 'planned or past maintenance', '')} will stay without it.`,
    subscribers > 0 && `${count(subscribers, 'subscriber')} who chose it will no longer get notifications about it.`,
    'Its uptime and history leave the status page.',
  ]
  const content = (
    <ConfirmDeletion state={state} what={name} back={screen.path(`services/${id}`)}>
      <ul class="consequences">
        {lines.filter(Boolean).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this service?', section: 'services', content }, state)
}

const count = (number: number, noun: string, plural = 's') => `${number} ${noun}${number === 1 ? '' : plural}`

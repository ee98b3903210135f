import type { Monitor } from '../../../generated/prisma/client.ts'
import { MonitorKind } from '../../../generated/prisma/enums.ts'
import type { Choice, FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, isFieldLocked } from '../../../http/page/form.tsx'
import { groupOptionsOf } from '../../../monitoring/group/group-store.ts'
import { createMonitor, updateMonitor } from '../../../monitoring/monitor/monitor.ts'
import { offerMonitors } from '../../../monitoring/monitor/monitor-queries.ts'
import { optionKeyOf } from '../../../monitoring/monitor/options.ts'
import { secretPaths } from '../../../monitoring/monitor/secrets.ts'
import type { TestRun } from '../../../monitoring/monitor/test-run.ts'
import { testOptions } from '../../../monitoring/monitor/test-run.ts'
import { ownMonitor } from '../../../monitoring/monitor-events.ts'
import { readParentIds } from '../../../monitoring/state/dependency-store.ts'
import { listServices } from '../../../status/service/service-queries.ts'
import { ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import type { EditorField } from './monitor-fields.ts'
import { commonFields, kindFields } from './monitor-fields.ts'
import { MonitorForm } from './monitor-form.tsx'
import { editorValues, readMonitorInput } from './monitor-input.ts'
import { kinds } from './monitor-words.ts'

/** Adds the editor of new and existing monitors. Its Test button probes, and saves nothing. */
export function monitorEditScreens({ form }: Screens): void {
  form('monitors/new', showNew, async (screen, sent) => {
    const kind = kindOf(sent.fields.get('kind'))
    if (kind === null) return 'monitors/new'
    const input = readMonitorInput(kind, fieldsOf(kind, []), sent.fields)
    if (sent.fields.has('test')) return showTested(screen, sent, null, await testOptions(screen.ctx, input))
    return `monitors/${(await createMonitor(screen.ctx, input)).id}`
  })
  form('monitors/:id/edit', showEdit, async (screen, sent) => {
    const { ctx, organization } = screen
    const monitor = await ownMonitor(ctx, organization.id, screen.c.req.param('id') ?? '')
    const { id } = monitor
    const input = readMonitorInput(monitor.kind, fieldsOf(monitor.kind, []), sent.fields)
    if (sent.fields.has('test')) return showTested(screen, sent, monitor, await testOptions(ctx, { id, ...input }))
    const emptied = { serviceId: input['serviceId'] ?? null, agreement: input['agreement'] ?? null }
    const edit = withoutLocked({ ...input, ...emptied }, sent.fields)
    await updateMonitor(ctx, { id, version: Number(sent.fields.get('version') ?? 0), ...edit })
    return `monitors/${id}`
  })
}

const MAX_NAME_LENGTH = 100
/** The maximum number of monitors to choose from, besides the selected ones. */
const MAX_OFFERED = 40
const MAX_OFFERED_MEMBERS = 250
/**
 * With more services, or that many monitors to choose from, the editor shows short names, so that it stays below 100
 * kB.
 */
const MANY_SERVICES = 250
const KEPT_CHARACTERS = 12

/** The monitors to choose from. */
interface MonitorChoices {
  /** For dependencies. */
  readonly parents: readonly Choice[]
  /** For a group. */
  readonly members: readonly Choice[]
}

/** The fields of a kind's editor, in order. */
function fieldsOf(
  kind: MonitorKind,
  services: readonly Choice[],
  monitors: MonitorChoices = { parents: [], members: [] },
): readonly EditorField[] {
  const name: EditorField = { name: 'name', label: 'Name', type: 'text', required: true, maxlength: MAX_NAME_LENGTH }
  const own = kindFields(kind).map((field) =>
    field.name === 'group.monitorIds' ? { ...field, choices: monitors.members } : field,
  )
  return [name, ...own, ...commonFields(kind, services, monitors.parents)]
}

function kindOf(text: string | null | undefined): MonitorKind | null {
  return Object.values(MonitorKind).find((kind) => kind === text) ?? null
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const kind = kindOf(state.fields.get('kind') ?? screen.c.req.query('kind'))
  if (kind !== null) return showEditor(screen, prefilled(screen, state), kind, null, null)
  const content = (
    <ul class="rows kinds">
      {Object.entries(kinds).map(([value, { name, about }]) => (
        <li>
          <a href={screen.path(`monitors/new?kind=${value}`)}>{name}</a>
          <span class="row-facts">{about}</span>
        </li>
      ))}
    </ul>
  )
  return screen.show({ title: 'What kind of monitor?', section: 'monitors', content }, state)
}

/** Fills the empty form with the target in the address, for links from the report of a check. */
function prefilled({ c }: Screen, state: FormState): FormState {
  const target = c.req.query('target')?.slice(0, MAX_NAME_LENGTH) ?? ''
  if (state.problem !== null || target === '') return state
  return { ...state, fields: new URLSearchParams({ name: target, 'blacklist.target': target }) }
}

async function showEdit(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization, c } = screen
  const monitor = await ownMonitor(ctx, organization.id, c.req.param('id') ?? '')
  return showEditor(screen, state, monitor.kind, monitor, null)
}

/** Shows the result of a test beside the input. */
function showTested(screen: Screen, { fields }: SubmittedForm, monitor: Monitor | null, answer: TestRun) {
  const kind = monitor?.kind ?? kindOf(fields.get('kind')) ?? 'HTTP'
  return showEditor(screen, { ...emptyForm, fields }, kind, monitor, answer)
}

async function showEditor(
  screen: Screen,
  state: FormState,
  kind: MonitorKind,
  monitor: Monitor | null,
  answer: TestRun | null,
): Promise<Response> {
  const lock = monitor === null ? { managed: null, state } : await readLock(screen, monitor.id, state)
  const parentIds = monitor === null ? [] : await readParentIds(screen.ctx, monitor.id)
  const parents = await readMonitorChoices(screen, monitor, parentIds, MAX_OFFERED)
  const memberIds = monitor?.kind === 'GROUP' ? groupOptionsOf(monitor).monitorIds : []
  const members = kind === 'GROUP' ? await readMonitorChoices(screen, monitor, memberIds, MAX_OFFERED_MEMBERS) : []
  const fields = fieldsOf(kind, await readServiceChoices(screen), { parents, members })
  const values = editorValues(fields, monitor && { ...monitor, dependsOnIds: parentIds })
  const content = (
    <>
      <ManagedNote screen={screen} managed={lock.managed} />
      <MonitorForm
        {...{ screen, kind, fields, values, answer }}
        state={lock.state}
        back={monitor ? `monitors/${monitor.id}` : 'monitors'}
        storedVersion={monitor?.version ?? null}
        secrets={new Set(monitor === null ? [] : storedSecrets(monitor))}
        isTestable={kind !== 'HEARTBEAT' && kind !== 'GROUP' && !isFieldLocked(lock.state, optionKeyOf(kind))}
      />
    </>
  )
  const title = monitor ? `Edit ${monitor.name}` : `New monitor: ${kinds[kind].name}`
  return screen.show({ title, section: 'monitors', content }, state)
}

/** Reads the monitors to choose from: the selected ones, and others. */
async function readMonitorChoices(
  { ctx, organization }: Screen,
  monitor: Monitor | null,
  chosen: readonly string[],
  maxOffered: number,
): Promise<Choice[]> {
  const options = { chosenIds: chosen, excludedId: monitor?.id ?? null, limit: maxOffered }
  const offer = await offerMonitors(ctx, organization.id, options)
  const isLong = offer.others.length >= MAX_OFFERED
  return [...offer.chosen, ...offer.others].map(({ id, name }) => ({
    value: id,
    text: isLong ? shortened(name) : name,
  }))
}

async function readServiceChoices({ ctx, organization }: Screen): Promise<Choice[]> {
  const services = await listServices(ctx, organization.id)
  const isLong = services.length > MANY_SERVICES
  return services.map(({ id, name }) => ({ value: id, text: isLong ? shortened(name) : name }))
}

/** Keeps the beginning and the end of a name, which distinguish names. */
function shortened(name: string): string {
  const characters = [...name]
  if (characters.length <= 2 * KEPT_CHARACTERS + 1) return name
  return `${characters.slice(0, KEPT_CHARACTERS).join('')}…${characters.slice(-KEPT_CHARACTERS).join('')}`
}

/** Returns the names of the fields with stored secrets. */
function storedSecrets({ kind, options }: Monitor): string[] {
  const key = kind.toLowerCase()
  return secretPaths(kind, options).map((path) => [key, ...path].join('.'))
}

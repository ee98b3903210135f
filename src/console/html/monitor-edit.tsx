import type { Monitor } from '../../generated/prisma/client.ts'
import { MonitorKind } from '../../generated/prisma/enums.ts'
import type { Choice, FormState, SubmittedForm } from '../../http/form.tsx'
import { emptyForm, isFieldLocked } from '../../http/form.tsx'
import { createMonitor, updateMonitor } from '../../monitoring/monitor.ts'
import { ownMonitor } from '../../monitoring/monitor-events.ts'
import { optionKeyOf } from '../../monitoring/options.ts'
import { secretPaths } from '../../monitoring/secrets.ts'
import type { TestRun } from '../../monitoring/test-run.ts'
import { testOptions } from '../../monitoring/test-run.ts'
import { ManagedNote, readLock, withoutLocked } from './managed.tsx'
import type { EditorField } from './monitor-fields.ts'
import { commonFields, kindFields } from './monitor-fields.ts'
import { MonitorForm } from './monitor-form.tsx'
import { editorValues, readMonitorInput } from './monitor-input.ts'
import { kinds } from './monitor-words.ts'
import type { Screen, Screens } from './screen.tsx'

/** Adds the editor of monitors: for new ones, and for those that exist. Its Test button probes, and saves nothing. */
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
/** The most monitors that are offered besides those on which it depends. */
const MAX_OFFERED = 40
/** Of more services, or of as many monitors as are offered, the editor shows short names: it stays below 100 kB. */
const MANY_SERVICES = 250
const KEPT_CHARACTERS = 12

/** The fields of a kind's editor, in order. */
function fieldsOf(
  kind: MonitorKind,
  services: readonly Choice[],
  monitors: readonly Choice[] = [],
): readonly EditorField[] {
  const name: EditorField = { name: 'name', label: 'Name', type: 'text', required: true, maxlength: MAX_NAME_LENGTH }
  return [name, ...kindFields[kind], ...commonFields(kind, services, monitors)]
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

/** Fills the empty form with the target in the address, as the report of a check links to it. */
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

/** Shows the answer of a test beside what was typed. */
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
  const parentIds = monitor === null ? [] : await readParentIds(screen, monitor)
  const monitors = await readMonitorChoices(screen, monitor, parentIds)
  const fields = fieldsOf(kind, await readServiceChoices(screen), monitors)
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
        isTestable={kind !== 'HEARTBEAT' && !isFieldLocked(lock.state, optionKeyOf(kind))}
      />
    </>
  )
  const title = monitor ? `Edit ${monitor.name}` : `New monitor: ${kinds[kind].name}`
  return screen.show({ title, section: 'monitors', content }, state)
}

async function readParentIds({ ctx }: Screen, { id }: Monitor): Promise<string[]> {
  const where = { monitorId: id }
  const found = await ctx.db.monitorDependency.findMany({ where, orderBy: { parentId: 'asc' } })
  return found.map(({ parentId }) => parentId)
}

/** Reads the monitors on which one may depend: those on which it does, and others. */
async function readMonitorChoices(
  { ctx, organization }: Screen,
  monitor: Monitor | null,
  chosen: readonly string[],
): Promise<Choice[]> {
  const find = (id: { readonly in: string[] } | { readonly notIn: string[] }) =>
    ctx.db.monitor.findMany({
      where: { organizationId: organization.id, id },
      select: { id: true, name: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: MAX_OFFERED,
    })
  const own = monitor === null ? [] : [monitor.id]
  const [known, others] = await Promise.all([find({ in: [...chosen] }), find({ notIn: [...own, ...chosen] })])
  const isLong = others.length === MAX_OFFERED
  return [...known, ...others].map(({ id, name }) => ({ value: id, text: isLong ? shortened(name) : name }))
}

async function readServiceChoices({ ctx, organization }: Screen): Promise<Choice[]> {
  const services = await ctx.db.service.findMany({
    where: { organizationId: organization.id },
    select: { id: true, name: true },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
  const isLong = services.length > MANY_SERVICES
  return services.map(({ id, name }) => ({ value: id, text: isLong ? shortened(name) : name }))
}

/** Keeps the beginning and the end of a name, which tell names apart. */
function shortened(name: string): string {
  const characters = [...name]
  if (characters.length <= 2 * KEPT_CHARACTERS + 1) return name
  return `${characters.slice(0, KEPT_CHARACTERS).join('')}…${characters.slice(-KEPT_CHARACTERS).join('')}`
}

/** Returns the names of the fields whose secrets are stored. */
function storedSecrets({ kind, options }: Monitor): string[] {
  const key = kind.toLowerCase()
  return secretPaths(kind, options).map((path) => [key, ...path].join('.'))
}

import { MonitorKind, MonitorState } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import { wordsOf } from '../../../language/catalogue.ts'
import type { MonitorFilter } from '../../../monitoring/monitor/monitor-filter.ts'
import type { ListedMonitor } from '../../../monitoring/monitor/monitor-queries.ts'
import { lastProbed, pageableMonitors } from '../../../monitoring/monitor/monitor-queries.ts'
import { pauseMonitor, resumeMonitor } from '../../../monitoring/monitor/pause.ts'
import type { ImportedDay } from '../../../monitoring/uptime/imported-history.ts'
import { readImportedDays } from '../../../monitoring/uptime/imported-history.ts'
import type { DayUptime } from '../../../monitoring/uptime/uptime-days.ts'
import { readDays } from '../../../monitoring/uptime/uptime-days.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { barLabel, DayBars } from '../../../status-page/html/uptime.tsx'
import type { ServiceHistory } from '../../../status-page/service-history.ts'
import { barView, importedIn } from '../../../status-page/service-history.ts'
import { applyToEach, chosenIds } from '../frame/bulk.ts'
import { Choose, ChooseAll } from '../frame/choose.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import type { ListPage } from '../frame/paging.tsx'
import { byCreation, choiceParam, FilterForm, PageLinks, queryOf, readListPage, textParam } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { kinds, monitorStateNames, outcomeNames, shownState } from './monitor-words.ts'

/** The days in the bar of each monitor. */
const DAYS = 30
/** The label of monitors without data in the state filter. */
const NO_DATA = 'UNKNOWN'
/** The maximum length of the last message in the list. */
const MAX_ANSWER_LENGTH = 140

/** Adds the list of monitors, and its bulk actions. */
export function monitorListScreens({ get, action }: Screens): void {
  get('monitors', (screen) => showList(screen, emptyForm))
  action(
    'monitors/bulk',
    async ({ c, ctx, path }, form) => {
      const ids = chosenIds(form)
      const query = queryOf(c)
      switch (form.fields.get('do')) {
        case 'pause':
          await applyToEach(ctx, ids, pauseMonitor)
          return `monitors${query}`
        case 'resume':
          await applyToEach(ctx, ids, resumeMonitor)
          return `monitors${query}`
        default:
          // Deletion asks for confirmation, and lists what is deleted.
          return c.redirect(path(`monitors/delete?${new URLSearchParams(ids.map((id) => ['ids', id]))}`), 303)
      }
    },
    showList,
  )
}

/** Reads a page of monitors with its bars. Runs six to nine statements. */
async function showList(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx, organization } = screen
  const filter = filterOf(screen)
  const order = byCreation('Monitor', 'asc', filter)
  const page = await readListPage(c, {
    ...{ path: screen.path('monitors'), order },
    ...pageableMonitors(ctx, organization.id, filter),
  })
  const ids = page.rows.map(({ id }) => id)
  const days =
    ids.length === 0 ? new Map<string, DayUptime[]>() : await readDays(ctx.db, organization, ids, DAYS, ctx.now())
  const imported = await readImportedBars(screen, page.rows, days)
  const content = <MonitorList {...{ screen, state, filter, page, days, imported }} />
  return screen.show({ title: 'Monitors', section: 'monitors', content, actions: <AddLink screen={screen} /> }, state)
}

function filterOf({ c }: Screen): MonitorFilter {
  const text = textParam(c, 'text')
  const kind = choiceParam(c, 'kind', Object.values(MonitorKind))
  return { ...(text && { text }), ...(kind && { kind }), ...stateFilterOf(c.req.query('state')) }
}

/** Returns the filter for the displayed state: monitors without data are in no other. */
function stateFilterOf(shown: string | undefined): MonitorFilter {
  if (shown === NO_DATA) return { isUnknown: true }
  const state = Object.values(MonitorState).filter((each) => each === shown)
  return state.length === 0 ? {} : { state, isUnknown: false }
}

function AddLink({ screen }: { readonly screen: Screen }) {
  if (!screen.may('WRITE')) return null
  return (
    <>
      {screen.may('ADMIN') ? (
        <a class="button quiet" href={screen.path('import')}>
          Import
        </a>
      ) : null}
      <a class="button" href={screen.path('monitors/new')}>
        Add a monitor
      </a>
    </>
  )
}

type ImportedBars = ReadonlyMap<string, readonly (ImportedDay | null)[]>

/** Reads the figures of another tool about the services of monitors, by the id of the monitor. */
async function readImportedBars(
  { ctx }: Screen,
  monitors: readonly ListedMonitor[],
  days: ReadonlyMap<string, readonly DayUptime[]>,
): Promise<ImportedBars> {
  const ids = monitors.flatMap(({ serviceId }) => serviceId ?? [])
  const shown = days.values().next().value ?? []
  const [first, last] = [shown[0]?.day, shown.at(-1)?.day]
  if (ids.length === 0 || first === undefined || last === undefined) return new Map()
  const found = await readImportedDays(ctx.db, ids, first, last)
  return new Map(
    monitors.flatMap(({ id, serviceId }) => {
      const own = found.get(serviceId ?? '')
      return own === undefined ? [] : [[id, importedIn(shown, own, last)] as const]
    }),
  )
}

interface MonitorListProps {
  readonly screen: Screen
  readonly state: FormState
  readonly filter: MonitorFilter
  readonly page: ListPage<ListedMonitor>
  readonly days: ReadonlyMap<string, readonly DayUptime[]>
  readonly imported: ImportedBars
}

function MonitorList({ screen, state, filter, page, days, imported }: MonitorListProps) {
  const isFiltered = Object.keys(filter).length > 0
  if (page.rows.length === 0 && !isFiltered) {
    return (
      <FirstStep screen={screen} path="start" text="Watch a website">
        Nothing is monitored yet.
      </FirstStep>
    )
  }
  return (
    <>
      <Filters filter={filter} path={screen.path('monitors')} />
      {page.rows.length === 0 ? (
        <p class="lead">
          No monitor matches. <a href={screen.path('monitors')}>Show all</a>
        </p>
      ) : (
        <form method="post" action={screen.path(`monitors/bulk${queryOf(screen.c)}`)} id="chosen">
          <FormProblem state={state} />
          {screen.may('WRITE') ? <BulkActions /> : null}
          <ul class="rows">
            {page.rows.map((monitor) => (
              <MonitorRow
                {...{ screen, monitor, days: days.get(monitor.id) ?? [], imported: imported.get(monitor.id) }}
              />
            ))}
          </ul>
        </form>
      )}
      <PageLinks {...page} />
    </>
  )
}

function Filters({ filter, path }: { readonly filter: MonitorFilter; readonly path: string }) {
  const any = { value: '', text: 'Any' }
  const ofKind = Object.entries(kinds).map(([value, { name }]) => ({ value, text: name }))
  const inState = Object.entries({ ...monitorStateNames, [NO_DATA]: outcomeNames.UNKNOWN }).map(([value, text]) => ({
    value,
    text,
  }))
  const shown = filter.isUnknown ? NO_DATA : filter.state?.[0]
  return (
    <FilterForm action={path}>
      <InputField label="Search" name="text" type="search" state={emptyForm} value={filter.text} />
      <SelectField label="Kind" name="kind" state={emptyForm} value={filter.kind?.[0]} choices={[any, ...ofKind]} />
      <SelectField label="State" name="state" state={emptyForm} value={shown} choices={[any, ...inState]} />
    </FilterForm>
  )
}

function BulkActions() {
  return (
    <p class="actions bulk">
      <ChooseAll />
      <button type="submit" class="quiet" name="do" value="pause">
        Pause
      </button>
      <button type="submit" class="quiet" name="do" value="resume">
        Resume
      </button>
      <button type="submit" class="quiet danger" name="do" value="delete">
        Delete
      </button>
    </p>
  )
}

interface MonitorRowProps {
  readonly screen: Screen
  readonly monitor: ListedMonitor
  readonly days: readonly DayUptime[]
  readonly imported: ServiceHistory['imported']
}

/** The console is in English. */
const words = wordsOf('EN')

function MonitorRow({ screen, monitor, days, imported }: MonitorRowProps) {
  const { id, name, kind } = monitor
  const shown = shownState(monitor)
  const bar = barView({ source: 'MONITORS', days, incidents: [], imported }, words)
  return (
    <li id={id} class="monitor-row" data-state={shown.state}>
      {screen.may('WRITE') ? <Choose id={id} name={name} /> : null}
      <div class="monitor-about">
        <a href={screen.path(`monitors/${id}`)}>{name}</a>
        <span class="row-facts">
          <span class="state">{shown.name}</span> · {kinds[kind].name}
          <LastAnswer screen={screen} monitor={monitor} />
        </span>
      </div>
      <DayBars label={barLabel(name, bar, words)} bar={bar} />
    </li>
  )
}

function LastAnswer({ screen, monitor }: { readonly screen: Screen; readonly monitor: ListedMonitor }) {
  const last = lastProbed(monitor.watches)
  if (!last?.lastProbedAt) return null
  return (
    <>
      {' '}
      · {shorten(last.lastMessage)}, <Time at={last.lastProbedAt} zone={screen.zone} />
    </>
  )
}

function shorten(text: string): string {
  const letters = [...text]
  return letters.length <= MAX_ANSWER_LENGTH ? text : `${letters.slice(0, MAX_ANSWER_LENGTH).join('')}…`
}

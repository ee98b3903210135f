import type { Child } from 'hono/jsx'
import type { Objective, Service, UptimeCorrection } from '../../../generated/prisma/client.ts'
import type { BurnSpeed, CorrectionKind } from '../../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import type { ObjectiveVerdict } from '../../../monitoring/objective/budget.ts'
import { listCorrectionsOfService } from '../../../monitoring/objective/correction.ts'
import {
  createObjective,
  deleteObjective,
  ownObjective,
  pageableObjectives,
  targetPercent,
  updateObjective,
} from '../../../monitoring/objective/objective.ts'
import type { Standing } from '../../../monitoring/objective/standing.ts'
import { readStandings } from '../../../monitoring/objective/standing.ts'
import { durationInWords } from '../../../monitoring/uptime/duration.ts'
import { listServices } from '../../../status/service/service-queries.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ConfirmDeletion, currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import { byCreation, PageLinks, readListPage } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'

const verdictWords = {
  HEALTHY: 'Healthy',
  AT_RISK: 'At risk',
  EXHAUSTED: 'Budget exhausted',
  NO_DATA: 'No data',
} as const satisfies Record<ObjectiveVerdict, string>

const speedWords = {
  FAST: 'burns fast',
  SLOW: 'burns too fast',
  STEADY: 'burns steadily',
} as const satisfies Record<BurnSpeed, string>

/** The labels of the ways in which corrections count. */
export const correctionWords = {
  GOOD: 'Counted as available',
  BAD: 'Counted as an outage',
  EXCLUDED: 'Not counted',
} as const satisfies Record<CorrectionKind, string>

/** The maximum number of services to choose from. */
const MAX_OFFERED = 500
/** The maximum number of corrections shown with an objective. */
const SHOWN_CORRECTIONS = 50

/** Adds the screens of objectives. */
export function objectiveScreens({ get, form }: Screens): void {
  get('objectives', showList)
  form('objectives/new', showNew, async ({ ctx }, { fields }) => {
    await createObjective(ctx, { serviceId: fields.get('serviceId') ?? '', ...settingsIn(fields) })
    return 'objectives'
  })
  form('objectives/:id', showOne, submitEdit)
  form('objectives/:id/delete', showDeletion, async (screen) => {
    await deleteObjective(screen.ctx, idIn(screen))
    return 'objectives'
  })
}

/** Reads the form; without days: the calendar month. */
function settingsIn(fields: URLSearchParams) {
  const days = fields.get('windowDays')?.trim() ?? ''
  const timeZone = fields.get('timeZone')?.trim() ?? ''
  return {
    target: Number(fields.get('target') || Number.NaN),
    windowDays: days === '' ? null : Number(days),
    ...(timeZone !== '' && { timeZone }),
  }
}

async function submitEdit(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const edit = withoutLocked(settingsIn(fields), fields)
  await updateObjective(screen.ctx, { id: idIn(screen), ...edit, version: readVersion(fields) })
  return `objectives/${idIn(screen)}`
}

type WithService = Objective & { readonly service: Pick<Service, 'id' | 'name'> }

async function showList(screen: Screen): Promise<Response> {
  const { c, ctx, organization } = screen
  const page = await readListPage(c, {
    path: screen.path('objectives'),
    order: byCreation('Objective', 'asc', {}),
    ...pageableObjectives(ctx, organization.id),
  })
  const standings = await readStandings(ctx.db, organization, page.rows, ctx.now())
  const content =
    page.rows.length === 0 ? (
      <p class="lead">
        No objectives yet. An objective says how much of the time a service should be available, such as 99.9% of 30
        days, and shows how much of its error budget is left.
      </p>
    ) : (
      <>
        <Table label="Objectives" heads={['Service', 'Target', 'Available', 'Coverage', 'Error budget', 'State']}>
          {page.rows.map((objective) => (
            <Row {...{ screen, objective, standing: standings.get(objective.id) }} />
          ))}
        </Table>
        <PageLinks {...page} />
      </>
    )
  const actions = (
    <>
      {screen.may('WRITE') ? (
        <a class="button" href={screen.path('objectives/new')}>
          Add an objective
        </a>
      ) : null}
      <a class="button quiet" href={screen.path('corrections')}>
        Corrections
      </a>
      <a class="button quiet" href={screen.path('reports')}>
        Reports
      </a>
    </>
  )
  return screen.show({ title: 'Objectives', section: 'services', content, actions })
}

interface RowProps {
  readonly screen: Screen
  readonly objective: WithService
  readonly standing: Standing | undefined
}

function Row({ screen, objective, standing }: RowProps) {
  const { id, service, burnSpeed } = objective
  return (
    <tr>
      <th scope="row">
        <a href={screen.path(`objectives/${id}`)}>{service.name}</a>
      </th>
      <td>{targetInWords(objective)}</td>
      <td>{percentInWords(standing?.percent)}</td>
      <td>{percentInWords(standing?.coverage)}</td>
      <td>{standing === undefined ? null : <Budget standing={standing} />}</td>
      <td>
        {standing === undefined ? null : verdictWords[standing.verdict]}
        {burnSpeed === null ? null : `, ${speedWords[burnSpeed]}`}
        {standing === undefined || standing.isFull ? null : ', window not yet full'}
      </td>
    </tr>
  )
}

/** Returns the target of an objective and its window as a text. */
function targetInWords({ target, windowDays }: Pick<Objective, 'target' | 'windowDays'>): string {
  const window = windowDays === null ? 'a calendar month' : windowDays === 1 ? '1 day' : `${windowDays} days`
  return `${targetPercent(target)}% of ${window}`
}

/** Formats a percentage. */
export const percentInWords = (percent: number | null | undefined): string =>
  percent == null ? 'no data' : `${percent}%`

/** Renders the rest of an error budget, with a bar. */
function Budget({ standing: { budgetMs, remainingMs } }: { readonly standing: Standing }) {
  const left = Math.max(0, remainingMs)
  const words =
    remainingMs < 0
      ? `overspent by ${durationInWords(-remainingMs)}`
      : `${durationInWords(remainingMs)} of ${durationInWords(budgetMs)} left`
  return (
    <>
      <meter min={0} max={Math.max(budgetMs, 1)} low={budgetMs / 5} optimum={budgetMs} value={left} aria-label={words}>
        {words}
      </meter>{' '}
      {words}
    </>
  )
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const services = (await listServices(screen.ctx, screen.organization.id)).slice(0, MAX_OFFERED)
  const content =
    services.length === 0 ? (
      <p class="lead">
        An objective needs a service. <a href={screen.path('services/new')}>Add a service</a> first.
      </p>
    ) : (
      <form method="post" class="stack" id="edit">
        <FormProblem state={state} fields={[...fieldNames, 'serviceId']} />
        <SelectField
          label="Service"
          name="serviceId"
          state={state}
          choices={services.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <Fields state={state} objective={null} />
        <p class="actions">
          <button type="submit">Add</button>
          <a href={screen.path('objectives')}>Cancel</a>
        </p>
      </form>
    )
  return screen.show({ title: 'Add an objective', section: 'services', content }, state)
}

const fieldNames = ['target', 'windowDays', 'timeZone']

function Fields({ state, objective }: { readonly state: FormState; readonly objective: Objective | null }) {
  const version = objective?.version ?? 0
  const now = (name: string, value: string, hint: string) => currentValue(state, version, { name, value, hint })
  const target = objective === null ? '99.9' : String(targetPercent(objective.target))
  const days = objective === null ? '30' : String(objective.windowDays ?? '')
  return (
    <>
      <InputField
        label="Target in percent"
        name="target"
        state={state}
        value={target}
        required
        hint={now('target', target, '50 to 99.999. At 99.9%, 43 minutes of 30 days may be an outage.')}
      />
      <InputField
        label="Over how many days, up to now"
        name="windowDays"
        state={state}
        value={days}
        inputmode="numeric"
        hint={now('windowDays', days, 'Empty: over the calendar month.')}
      />
      <InputField
        label="Time zone of calendar months"
        name="timeZone"
        state={state}
        value={objective?.timeZone ?? ''}
        hint={now('timeZone', objective?.timeZone ?? '', 'Empty: that of the organization.')}
      />
    </>
  )
}

async function showOne(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const objective = await ownObjective(ctx, organization.id, idIn(screen))
  const lock = await readLock(screen, objective.id, state)
  const standing = (await readStandings(ctx.db, organization, [objective], ctx.now())).get(objective.id)
  const corrections = await listCorrectionsOfService(ctx, objective.serviceId, SHOWN_CORRECTIONS)
  const content = (
    <>
      {standing === undefined ? null : <Figures {...{ screen, standing, objective }} />}
      <Corrections {...{ screen, objective, corrections }} />
      {screen.may('WRITE') ? (
        <section>
          <h2>Settings</h2>
          <ManagedNote screen={screen} managed={lock.managed} />
          <form method="post" class="stack" id="edit">
            <LockedFields state={lock.state} />
            <EditProblem state={state} version={objective.version} fields={fieldNames} />
            <VersionField state={state} version={objective.version} />
            <Fields state={lock.state} objective={objective} />
            <p class="actions">
              <button type="submit">Save</button>
              <a href={screen.path(`objectives/${objective.id}/delete`)}>Delete</a>
            </p>
          </form>
        </section>
      ) : null}
    </>
  )
  const title = `${objective.service.name}: ${targetInWords(objective)}`
  return screen.show({ title, section: 'services', content }, state)
}

interface FiguresProps {
  readonly screen: Screen
  readonly standing: Standing
  readonly objective: Objective
}

function Figures({ screen, standing, objective }: FiguresProps) {
  const { tally, percent, coverage, verdict, isFull, from, to, burnRates } = standing
  const facts: readonly (readonly [string, Child])[] = [
    [
      'Counted',
      <>
        <Time at={from} zone={screen.zone} /> to <Time at={to} zone={screen.zone} />
      </>,
    ],
    ['Available', `${percentInWords(percent)} (known: ${percentInWords(coverage)} of the time)`],
    ['Error budget', <Budget standing={standing} />],
    ['Outages', durationInWords(tally.bad)],
    ['Maintenance, not counted', durationInWords(tally.maintenance)],
    ['Corrected', durationInWords(tally.corrected)],
  ]
  const rate = (value: number | null) => (value === null ? 'no data' : `${Math.round(value * 100) / 100}×`)
  return (
    <section>
      <h2>
        {verdictWords[verdict]}
        {objective.burnSpeed === null ? '' : `: its budget ${speedWords[objective.burnSpeed]}`}
      </h2>
      {isFull ? null : <p>The window is not full yet: the service has been monitored for less time.</p>}
      <ul class="rows">
        {facts.map(([name, value]) => (
          <li>
            <span>{name}</span>
            <span class="row-facts">{value}</span>
          </li>
        ))}
      </ul>
      <h3>Burn rates</h3>
      <Table label="Error budget" heads={['Windows', 'Too fast from', 'Long', 'Short', 'State']}>
        {burnRates.map(({ longMs, shortMs, threshold, longRate, shortRate, isBurning }) => (
          <tr>
            <th scope="row">
              {durationInWords(longMs)} and {durationInWords(shortMs)}
            </th>
            <td>{rate(threshold)}</td>
            <td>{rate(longRate)}</td>
            <td>{rate(shortRate)}</td>
            <td>{isBurning === null ? 'unknown yet' : isBurning ? 'too fast' : 'fine'}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Corrections(props: {
  readonly screen: Screen
  readonly objective: Objective
  readonly corrections: readonly UptimeCorrection[]
}) {
  const { screen, objective, corrections } = props
  return (
    <section>
      <h2>Corrections</h2>
      {corrections.length === 0 ? <p>No corrections.</p> : null}
      <ul class="rows">
        {corrections.map(({ startsAt, endsAt, kind, reason, author }) => (
          <li>
            <span>{reason}</span>
            <span class="row-facts">
              {correctionWords[kind]}: <Time at={startsAt} zone={screen.zone} /> to{' '}
              <Time at={endsAt} zone={screen.zone} />, {author}
            </span>
          </li>
        ))}
      </ul>
      {screen.may('WRITE') ? (
        <p>
          <a href={screen.path(`corrections/new?serviceId=${objective.serviceId}`)}>Correct a time</a>
        </p>
      ) : null}
    </section>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const objective = await ownObjective(screen.ctx, screen.organization.id, idIn(screen))
  const content = (
    <ConfirmDeletion
      state={state}
      what={`${objective.service.name}: ${targetInWords(objective)}`}
      back={screen.path(`objectives/${objective.id}`)}
    >
      <p>Its open alert is closed. Corrections stay.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this objective?', section: 'services', content }, state)
}

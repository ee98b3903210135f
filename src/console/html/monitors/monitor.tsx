import { isJsonObject } from '../../../core/json-object.ts'
import type { Monitor, ProbeResult, Watch } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import type { GroupMemberRow } from '../../../monitoring/group/group-store.ts'
import { groupOptionsOf, readGroupMembers } from '../../../monitoring/group/group-store.ts'
import { HEARTBEAT_PATH } from '../../../monitoring/heartbeat/heartbeat.ts'
import { heartbeatToken, rotateHeartbeatToken } from '../../../monitoring/monitor/monitor.ts'
import { pauseMonitor, resumeMonitor } from '../../../monitoring/monitor/pause.ts'
import { readWatches } from '../../../monitoring/monitor/watches.ts'
import { ownMonitor } from '../../../monitoring/monitor-events.ts'
import type { ProbeDetail } from '../../../monitoring/result/probe-result.ts'
import { readNewestResults } from '../../../monitoring/result/result-queries.ts'
import { readRelations } from '../../../monitoring/state/dependency-store.ts'
import { readIncidentIds } from '../../../monitoring/state/outage-incident.ts'
import type { NamedParent } from '../../../monitoring/state/staleness-change.ts'
import { stalenessReason } from '../../../monitoring/state/staleness-change.ts'
import { durationInWords } from '../../../monitoring/uptime/duration.ts'
import type { LatencyPoint } from '../../../monitoring/uptime/latency.ts'
import { readLatencies } from '../../../monitoring/uptime/latency.ts'
import type { MonitorPageHistory } from '../../../monitoring/uptime/monitor-page-history.ts'
import { readMonitorPageHistory } from '../../../monitoring/uptime/monitor-page-history.ts'
import type { Outage } from '../../../monitoring/uptime/uptime.ts'
import type { Schedule } from '../../../monitoring/watch/staleness.ts'
import { scheduleOf } from '../../../monitoring/watch/staleness.ts'
import { LatencyChart } from '../../../status-page/html/latency-chart.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { formatDuration } from '../../../status-page/time-format.ts'
import { PrivateTargetsLink } from '../frame/private-targets.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { kinds, outcomeNames, shownState } from './monitor-words.ts'

/** The days of each uptime, with their names. */
const SPANS = [
  { days: 1, name: '24 hours' },
  { days: 7, name: '7 days' },
  { days: 30, name: '30 days' },
  { days: 90, name: '90 days' },
] as const
/** The maximum number of outages and results on the page, newest first. */
const MAX_OUTAGES = 20
const MAX_CHECKS = 20

/** Adds the page of a monitor, and its buttons. */
export function monitorScreens({ get, action }: Screens): void {
  get('monitors/:id', (screen) => showMonitor(screen, emptyForm))
  const button = (name: string, work: (ctx: Screen['ctx'], id: string) => Promise<unknown>) =>
    action(
      `monitors/:id/${name}`,
      async (screen) => {
        await work(screen.ctx, idOf(screen))
        return `monitors/${idOf(screen)}`
      },
      showMonitor,
    )
  button('pause', pauseMonitor)
  button('resume', resumeMonitor)
  button('rotate', rotateHeartbeatToken)
}

const idOf = ({ c }: Screen) => c.req.param('id') ?? ''

interface OutageRow extends Outage {
  readonly incidentId: string | null
}

/** The data of the page. */
interface Details {
  readonly screen: Screen
  readonly state: FormState
  readonly monitor: Monitor
  readonly watches: readonly Watch[]
  readonly service: string | null
  /** The monitors that it depends on, and the number of those that depend on it. */
  readonly parents: readonly NamedParent[]
  readonly dependents: number
  /** The members of a group; null: it is not a group. */
  readonly members: readonly GroupMemberRow[] | null
  readonly history: MonitorPageHistory
  readonly outages: readonly OutageRow[]
  /** Empty: none were measured. */
  readonly latencies: readonly LatencyPoint[]
  readonly results: readonly ProbeResult[]
}

async function showMonitor(screen: Screen, state: FormState): Promise<Response> {
  const details = { screen, state, ...(await readDetails(screen)) }
  const content = <MonitorPage {...details} />
  const actions = <Actions {...details} />
  return screen.show({ title: details.monitor.name, section: 'monitors', content, actions }, state)
}

/** Runs at most nine statements. */
async function readDetails(screen: Screen): Promise<Omit<Details, 'screen' | 'state'>> {
  const { ctx, organization } = screen
  const { db } = ctx
  const now = ctx.now()
  const monitor = await ownMonitor(ctx, organization.id, idOf(screen))
  const { id } = monitor
  const last24Hours = { range: 'HOURS_24', resolution: 'HOUR' } as const
  const [watches, history, latencies, relations, members, results] = await Promise.all([
    readWatches(ctx, id),
    readMonitorPageHistory(
      db,
      organization,
      id,
      SPANS.map(({ days }) => days),
      now,
    ),
    readLatencies(db, organization, [id], last24Hours, now),
    readRelations(ctx, monitor),
    monitor.kind === 'GROUP' ? readGroupMembers(ctx, [monitor]).then((found) => found.get(id) ?? []) : null,
    readNewestResults(ctx, id, MAX_CHECKS),
  ])
  const points = latencies.get(id) ?? []
  return {
    ...{ monitor, watches, history, members, results, ...relations },
    outages: await withIncidents(screen, id, history.outages.slice(0, MAX_OUTAGES)),
    latencies: points.some(({ count }) => count > 0) ? points : [],
  }
}

async function withIncidents({ ctx }: Screen, monitorId: string, outages: readonly Outage[]): Promise<OutageRow[]> {
  if (outages.length === 0) return []
  const known = outages.map((outage) => ({ ...outage, monitorId }))
  const ids = await readIncidentIds(ctx.db, known)
  return outages.map((outage, index) => ({ ...outage, incidentId: ids[index] ?? null }))
}

function Actions({ screen, monitor: { id, pausedBy, kind, serviceId } }: Details) {
  if (!screen.may('WRITE')) return null
  const change = pausedBy === null ? { name: 'pause', text: 'Pause' } : { name: 'resume', text: 'Resume' }
  return (
    <>
      {serviceId === null ? null : (
        <a class="button quiet" href={screen.path(`incidents/new?service=${serviceId}`)}>
          Report an incident
        </a>
      )}
      <a class="button quiet" href={screen.path(`monitors/${id}/edit`)}>
        Edit
      </a>
      <ButtonForm path={screen.path(`monitors/${id}/${change.name}`)} text={change.text} />
      {kind === 'HEARTBEAT' ? <ButtonForm path={screen.path(`monitors/${id}/rotate`)} text="New URL" /> : null}
      <a class="button quiet" href={screen.path(`monitors/delete?ids=${id}`)}>
        Delete
      </a>
    </>
  )
}

function ButtonForm({ path, text }: { readonly path: string; readonly text: string }) {
  return (
    <form method="post" action={path}>
      <button type="submit" class="quiet">
        {text}
      </button>
    </form>
  )
}

function MonitorPage(details: Details) {
  const { state, monitor, latencies, screen } = details
  return (
    <div class="monitor" data-probe-results={monitor.id}>
      <FormProblem state={state} />
      <State {...details} />
      <HeartbeatUrl {...details} />
      <Uptimes {...details} />
      {latencies.length === 0 ? null : (
        <section>
          <h2>{monitor.kind === 'HEARTBEAT' ? 'Run times' : 'Response times'}</h2>
          <LatencyChart range="24h" points={latencies} zone={screen.zone} />
        </section>
      )}
      <Outages {...details} />
      <Regions {...details} />
      {monitor.kind === 'GROUP' ? <Members {...details} /> : <Results {...details} />}
    </div>
  )
}

/** Returns whether the target of a result was refused because it is in a private network. */
function isPrivateTarget(result: ProbeResult | undefined): boolean {
  const detail = (result?.detail ?? null) as ProbeDetail | null
  return detail?.isPrivateTarget === true
}

function State({ screen, monitor, watches, service, history, results, parents, dependents, members }: Details) {
  const shown = shownState(monitor)
  const since = shown.state === 'UNKNOWN' ? (monitor.unknownSince ?? monitor.stateSince) : monitor.stateSince
  const schedule = scheduleOf(monitor, screen.organization.tier)
  const reason =
    shown.state === 'UNKNOWN'
      ? stalenessReason({ ...monitor, parents, members }, [...watches], schedule, screen.ctx.now())
      : history.cause
  return (
    <section data-state={shown.state}>
      <p class="lead">
        <span class="state">{shown.name}</span> since <Time at={since} zone={screen.zone} />
      </p>
      {reason === '' || shown.state === 'UP' ? null : <p>{reason}</p>}
      <PrivateTargetsLink screen={screen} isRefused={isPrivateTarget(results[0])} />
      <p class="row-facts">
        {kinds[monitor.kind].name}, {monitor.kind === 'GROUP' ? requirementInWords(monitor) : frequency(schedule)}
        {service === null ? '' : `, determines the status of ${service}`}
      </p>
      <Run screen={screen} watches={watches} />
      {parents.length === 0 ? null : (
        <p class="row-facts">
          Depends on{' '}
          {parents.map(({ id, name }, index) => (
            <>
              {index === 0 ? '' : ', '}
              <a href={screen.path(`monitors/${id}`)}>{name}</a>
            </>
          ))}
          {monitor.blockedSince === null ? '' : '. Until it is up again, this one opens no incidents and no alerts.'}
        </p>
      )}
      {dependents === 0 ? null : (
        <p class="row-facts">{dependents === 1 ? 'One monitor depends' : `${dependents} monitors depend`} on it.</p>
      )}
    </section>
  )
}

function requirementInWords(monitor: Monitor): string {
  const { require, count = 1 } = groupOptionsOf(monitor)
  if (require === 'ALL') return 'up when all monitors are up'
  return require === 'ANY' || count === 1 ? 'up when any monitor is up' : `up when at least ${count} monitors are up`
}

/** Shows since when a job has been running, according to its reports. */
function Run({ screen, watches }: Pick<Details, 'screen' | 'watches'>) {
  const startedAt = watches[0]?.startedAt ?? null
  if (startedAt === null) return null
  return (
    <p class="row-facts">
      Running since <Time at={startedAt} zone={screen.zone} />
    </p>
  )
}

const frequency = ({ cron, intervalSeconds }: Schedule) =>
  cron ? `at ${cron.expression} (${cron.timeZone})` : `every ${formatSeconds(intervalSeconds)}`

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
}

/** Only those who may change the monitor see the URL, which is a secret. */
function HeartbeatUrl({ screen, monitor }: Details) {
  const { seal, site } = screen.ctx
  const token = screen.may('WRITE') ? heartbeatToken(seal, monitor) : null
  if (token === null) return null
  return (
    <section>
      <h2>Heartbeat URL</h2>
      <code class="secret">{`${site.baseUrl}${HEARTBEAT_PATH}/${token}`}</code>
      <p class="row-facts">
        The job requests this URL when it succeeds, and can append /start, /fail or its exit code. “New URL” replaces
        this one.
      </p>
    </section>
  )
}

function Uptimes({ history }: Details) {
  return (
    <section>
      <h2>Uptime</h2>
      <dl class="uptimes">
        {history.uptimes.map(({ percent, coverage }, index) => (
          <div>
            <dt>{SPANS[index]?.name}</dt>
            <dd>{percent === null ? 'No data' : `${percent}%`}</dd>
            {coverage === null || coverage === 100 || percent === null ? null : (
              <dd class="row-facts">{coverage}% of the time known</dd>
            )}
          </div>
        ))}
      </dl>
    </section>
  )
}

function Outages({ screen, outages }: Details) {
  if (outages.length === 0) return null
  return (
    <section>
      <h2>Outages</h2>
      <ul class="rows">
        {outages.map(({ startedAt, endedAt, cause, incidentId }) => (
          <li>
            <span>
              <Time at={startedAt} zone={screen.zone} />
              {endedAt === null ? ', ongoing' : `, ${formatDuration(endedAt.getTime() - startedAt.getTime())}`}
            </span>
            <span class="row-facts">
              {cause} {incidentId === null ? null : <a href={screen.path(`incidents/${incidentId}`)}>Incident</a>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Regions({ screen, watches }: Details) {
  if (watches.length < 2) return null
  return (
    <section>
      <h2>Regions</h2>
      <Table label="Regions" heads={['Region', 'State', 'Since', 'Response', 'Last answer']}>
        {watches.map((watch) => (
          <tr data-state={watch.state}>
            <th scope="row">{watch.region}</th>
            <td class="state">{shownState({ state: watch.state, unknownSince: null }).name}</td>
            <td>
              <Time at={watch.stateSince} zone={screen.zone} />
            </td>
            <td>{milliseconds(watch.lastLatencyMs)}</td>
            <td>{watch.lastMessage}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Members({ screen, members }: Details) {
  if (members === null) return null
  return (
    <section>
      <h2>Monitors</h2>
      {members.length === 0 ? <p>All have been deleted.</p> : null}
      <ul class="rows">
        {members.map((member) => {
          const shown = shownState(member)
          return (
            <li data-state={shown.state}>
              <a href={screen.path(`monitors/${member.id}`)}>{member.name}</a>
              <span class="row-facts">
                <span class="state">{shown.name}</span> since{' '}
                <Time at={member.unknownSince ?? member.stateSince} zone={screen.zone} />
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Results({ screen, results, monitor }: Details) {
  return (
    <section>
      <h2>Last results</h2>
      {results.length === 0 ? (
        <p>{monitor.kind === 'HEARTBEAT' ? 'The job has not reported yet.' : 'There are none yet.'}</p>
      ) : (
        <ul class="rows">
          {results.map(({ at, region, outcome, message, latencyMs, detail }) => (
            <li data-state={outcome}>
              <span>
                <span class="state">{outcomeNames[outcome]}</span> · {message}
              </span>
              {noteIn(detail) === null ? null : <span class="row-facts">{noteIn(detail)}</span>}
              <span class="row-facts">
                {monitor.kind === 'HEARTBEAT' && latencyMs !== null ? `ran ${runTime(latencyMs)}, ` : ''}
                {region === '*' ? '' : `${region}, `}
                <Time at={at} zone={screen.zone} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Returns what is unusual about an answer, from the stored detail of a result; null: nothing. */
function noteIn(detail: unknown): string | null {
  const note = isJsonObject(detail) ? detail['note'] : undefined
  return typeof note === 'string' ? note : null
}

const runTime = (runMs: number) => (runMs < 1000 ? `${runMs} ms` : durationInWords(runMs))

const milliseconds = (latencyMs: number | null) => (latencyMs === null ? '' : `${latencyMs} ms`)

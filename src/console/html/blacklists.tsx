import type { BulkItem } from '../../blacklist/check.ts'
import { bulkCheck, MAX_TARGETS } from '../../blacklist/check.ts'
import type { BlacklistResult, Report } from '../../blacklist/check-report.ts'
import { verdictLabels } from '../../blacklist/html/marks.tsx'
import { reportVerdict } from '../../blacklist/verdict.ts'
import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, TextField } from '../../http/page/form.tsx'
import { Table } from '../../http/page/table.tsx'
import { createMonitor } from '../../monitoring/monitor/monitor.ts'
import { pageableBlacklistMonitors } from '../../monitoring/monitor/monitor-queries.ts'
import { csvLine } from '../../notification/subscriber/csv.ts'
import { Time } from '../../status-page/html/time.tsx'
import { FirstStep } from './frame/first-step.tsx'
import type { ListPage } from './frame/paging.tsx'
import { byCreation, PageLinks, readListPage } from './frame/paging.tsx'
import type { Screen, Screens } from './frame/screen.tsx'
import { shownState } from './monitors/monitor-words.ts'

type Watched = Monitor & { readonly watches: readonly Watch[] }

/** Adds the organization's blacklist monitors, and a table that checks up to 20 targets at once. */
export function blacklistScreens({ form, action }: Screens): void {
  form(
    'blacklists',
    (screen, state) => showBlacklists(screen, state, null),
    async (screen, { fields }) => {
      const lines = (fields.get('targets') ?? '').split(/[\r\n,;]+/)
      const targets = lines.map((line) => line.trim()).filter(Boolean)
      const { items } = await bulkCheck(screen.ctx, targets)
      return showBlacklists(screen, { fields, problem: null }, items)
    },
  )
  action(
    'blacklists/watch',
    async ({ ctx }, { fields }) => {
      const target = fields.get('target') ?? ''
      const { id } = await createMonitor(ctx, { name: target.slice(0, MAX_NAME_LENGTH), blacklist: { target } })
      return `monitors/${id}`
    },
    (screen, state) => showBlacklists(screen, state, null),
  )
}

const MAX_NAME_LENGTH = 100

/** @param items the results to show; null: nothing was checked. */
async function showBlacklists(screen: Screen, state: FormState, items: readonly BulkItem[] | null): Promise<Response> {
  const { c, ctx, organization } = screen
  const page = await readListPage(c, {
    path: screen.path('blacklists'),
    order: byCreation('Monitor', 'asc', { kind: 'BLACKLIST' }),
    ...pageableBlacklistMonitors(ctx, organization.id),
  })
  const content = (
    <>
      <WatchedTargets screen={screen} page={page} />
      <section id="check" {...(items !== null && { 'data-keep': '' })}>
        <h2>Check up to {MAX_TARGETS} targets</h2>
        <CheckForm screen={screen} state={state} />
        {items === null ? null : <Results screen={screen} items={items} />}
      </section>
    </>
  )
  return screen.show({ title: 'Blacklists', section: 'blacklists', content }, state)
}

function WatchedTargets({ screen, page }: { readonly screen: Screen; readonly page: ListPage<Watched> }) {
  return (
    <section>
      <h2>Watched</h2>
      {page.rows.length === 0 ? (
        <FirstStep screen={screen} path="monitors/new?kind=BLACKLIST" text="Watch one">
          No address or domain is monitored yet.
        </FirstStep>
      ) : (
        <ul class="rows">
          {page.rows.map((monitor) => (
            <WatchedRow screen={screen} monitor={monitor} />
          ))}
        </ul>
      )}
      <PageLinks {...page} />
    </section>
  )
}

function WatchedRow({ screen, monitor }: { readonly screen: Screen; readonly monitor: Watched }) {
  const shown = shownState(monitor)
  const [watch] = monitor.watches
  return (
    <li id={monitor.id} data-state={shown.state}>
      <div class="row-about">
        <a href={screen.path(`monitors/${monitor.id}`)}>{monitor.name}</a>
        <span class="row-facts">
          {watch?.lastProbedAt ? (
            <>
              {watch.lastMessage}, <Time at={watch.lastProbedAt} zone={screen.zone} />
            </>
          ) : (
            'Not checked yet'
          )}
        </span>
      </div>
      <span class="state">{shown.name}</span>
    </li>
  )
}

function CheckForm({ screen, state }: { readonly screen: Screen; readonly state: FormState }) {
  const isPro = screen.organization.checkPlan === 'PRO'
  return (
    <form method="post" action={screen.path('blacklists')} class="stack" id="check-form">
      <FormProblem state={state} />
      {isPro ? null : (
        <p>
          This needs the pro check plan
          {screen.ctx.billing.btcpay === null ? (
            ', which the operator of this service sets.'
          ) : (
            <>
              . <a href={screen.path('plan')}>Plan</a>
            </>
          )}
        </p>
      )}
      <TextField
        label="Addresses and domains"
        name="targets"
        state={state}
        hint="One per line. All of them count as one check."
      />
      <p class="actions">
        <button type="submit">Check</button>
      </p>
    </form>
  )
}

/** The texts of a table line about a target. */
interface Line {
  readonly target: string
  /** Null: it could not be checked. */
  readonly verdict: string | null
  readonly listedOn: readonly string[]
  readonly message: string
}

function Results({ screen, items }: { readonly screen: Screen; readonly items: readonly BulkItem[] }) {
  const lines = items.map(lineOf)
  return (
    <>
      <p class="actions bulk" role="status">
        {lines.length === 1 ? '1 target' : `${lines.length} targets`} checked.{' '}
        <a href={csvAddress(lines)} download="blacklists.csv">
          Download as CSV
        </a>
      </p>
      <form method="post" action={screen.path('blacklists/watch')}>
        <Table label="Results" heads={['Target', 'Result', 'Listed on', 'Details', 'Watch']}>
          {lines.map((line) => (
            <ResultRow screen={screen} line={line} />
          ))}
        </Table>
      </form>
    </>
  )
}

function ResultRow({ screen, line }: { readonly screen: Screen; readonly line: Line }) {
  const { target, verdict, listedOn, message } = line
  return (
    <tr data-state={verdict === verdictLabels.listed ? 'DOWN' : undefined}>
      <th scope="row">{target}</th>
      <td class="state">{verdict ?? 'Not checked'}</td>
      <td>{listedOn.join(', ')}</td>
      <td>{message}</td>
      <td>
        {verdict !== null && screen.may('WRITE') ? (
          <button type="submit" class="quiet" name="target" value={target} aria-label={`Watch ${target}`}>
            Watch
          </button>
        ) : null}
      </td>
    </tr>
  )
}

function lineOf(item: BulkItem): Line {
  if (item.kind === 'error') return { target: item.target, verdict: null, listedOn: [], message: item.message }
  const { report } = item
  const listedOn = [...new Set(resultsOf(report).flatMap(({ listed, name }) => (listed ? [name] : [])))]
  return { target: report.target, verdict: verdictLabels[reportVerdict(report)], listedOn, message: report.verdict }
}

function resultsOf(report: Report): readonly BlacklistResult[] {
  if (report.targetType === 'ip') return report.results
  return [...report.results, ...report.ipReports.flatMap(({ results }) => results)]
}

/** Returns the table as a data URL, so that downloading it does not consume another check. */
function csvAddress(lines: readonly Line[]): string {
  const head = csvLine(['target', 'result', 'listed on', 'details'])
  const rows = lines.map(({ target, verdict, listedOn, message }) =>
    csvLine([target, verdict ?? 'Not checked', listedOn.join('; '), message]),
  )
  return `data:text/csv;charset=utf-8,${encodeURIComponent([head, ...rows].join(''))}`
}

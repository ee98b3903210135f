import type { Child } from 'hono/jsx'
import type { Page } from '../../../account/page/page.ts'
import { findPage, readPages } from '../../../account/page/page.ts'
import { updatePageReports } from '../../../account/page/page-reports.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { targetPercent } from '../../../monitoring/objective/objective.ts'
import { durationInWords } from '../../../monitoring/uptime/duration.ts'
import { isMailEnabled } from '../../../notification/context.ts'
import type { ReportMail } from '../../../notification/subscriber/report-subscription.ts'
import { mailReports, reportMailOf } from '../../../notification/subscriber/report-subscription.ts'
import { privateHeaders } from '../../../people/html/frame.tsx'
import { Span, Time } from '../../../status-page/html/time.tsx'
import type { MeanTime, MonthlyReport, ServiceReport } from '../../../status-page/monthly-report.ts'
import { readReport, reportMonths } from '../../../status-page/monthly-report.ts'
import { reportCsv, reportJson } from '../../../status-page/report-files.ts'
import { impactLabels } from '../../../status-page/view.ts'
import { readVersion } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { correctionWords, percentInWords } from './objectives.tsx'

/** The maximum number of pages whose months are listed. */
const MAX_PAGES = 50

/** Adds the monthly reports of pages. */
export function reportScreens({ get, action }: Screens): void {
  get('reports', (screen) => showList(screen, emptyForm))
  action(
    'reports/:id/published',
    async (screen, { fields }) => {
      const version = readVersion(fields)
      await updatePageReports(screen.ctx, {
        pageId: idIn(screen),
        published: fields.get('published') === 'true',
        version,
      })
      return 'reports'
    },
    showList,
  )
  action(
    'reports/:id/mail',
    async (screen) => {
      await mailReports(screen.ctx, idIn(screen), screen.user.email)
      return 'reports'
    },
    showList,
  )
  get('reports/:id', showReport)
}

async function showList(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const pages = (await readPages(ctx.db, 'organizationId', [organization.id], { withDeleted: true })).slice(
    0,
    MAX_PAGES,
  )
  const months = reportMonths(organization, ctx.now())
  const hasMail = isMailEnabled(ctx.config)
  const mails = await Promise.all(pages.map((page) => (hasMail ? reportMailOf(ctx, page, screen.user.email) : null)))
  const content = (
    <>
      <FormProblem state={state} fields={[]} />
      <p class="lead">What the services of a page were like in a calendar month of {organization.timeZone}.</p>
      {pages.map(({ id, name, ...page }, place) => (
        <section>
          <h2>{name}</h2>
          <Publication {...{ screen, id, page }} />
          <ByMail {...{ screen, id }} mail={mails[place] ?? null} />
          <ul class="rows">
            {months.map((month, index) => (
              <li>
                <a href={screen.path(`reports/${id}?month=${month}`)}>{month}</a>
                <span class="row-facts">{index === 0 ? 'so far' : null}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
  return screen.show({ title: 'Reports', section: 'services', content }, state)
}

/** Shows whether readers of the page can read its reports, with a button to change that. */
function Publication(props: {
  readonly screen: Screen
  readonly id: string
  readonly page: Pick<Page, 'slug' | 'version' | 'publishesReports'>
}) {
  const { screen, id, page } = props
  const { slug, version, publishesReports } = page
  return (
    <form method="post" action={screen.path(`reports/${id}/published`)} class="actions">
      <span>
        {publishesReports ? (
          <>
            Readers of the page can read <a href={`/status/${slug}/reports`}>the reports of past months</a>.
          </>
        ) : (
          'Only members can read them.'
        )}
      </span>
      {screen.may('ADMIN') ? (
        <>
          <input type="hidden" name="version" value={version} />
          <button type="submit" class="quiet" name="published" value={String(!publishesReports)}>
            {publishesReports ? 'Stop publishing' : 'Publish'}
          </button>
        </>
      ) : null}
    </form>
  )
}

/** Shows whether the member gets the reports by email, with a button to subscribe. */
function ByMail({
  screen,
  id,
  mail,
}: {
  readonly screen: Screen
  readonly id: string
  readonly mail: ReportMail | null
}) {
  if (mail === null) return null
  if (mail === 'ACTIVE') return <p>You get each report by email. To stop, follow the link at its end.</p>
  return (
    <form method="post" action={screen.path(`reports/${id}/mail`)} class="actions">
      {mail === 'PENDING' ? <span>To get each report, confirm your address with the link in the email.</span> : null}
      <button type="submit" class="quiet">
        {mail === 'PENDING' ? 'Send the link again' : 'Email me each report'}
      </button>
    </form>
  )
}

async function showReport(screen: Screen): Promise<Response> {
  const { c, ctx, organization } = screen
  const page = await findPage(ctx.db, organization.id, idIn(screen))
  const month = c.req.query('month') ?? reportMonths(organization, ctx.now())[0] ?? ''
  const report = await readReport(ctx, organization, page, month)
  const format = c.req.query('format')
  const name = `filename="report-${page.slug}-${report.month}.${format}"`
  const headers = { ...privateHeaders, 'content-disposition': `attachment; ${name}` }
  if (format === 'csv') return c.body(reportCsv(report), 200, { ...headers, 'content-type': 'text/csv; charset=utf-8' })
  if (format === 'json') return c.json(reportJson(report), 200, headers)
  const file = (kind: string, label: string) => (
    <a class="button quiet" href={screen.path(`reports/${page.id}?month=${report.month}&format=${kind}`)}>
      {label}
    </a>
  )
  const actions = (
    <>
      {file('csv', 'CSV')}
      {file('json', 'JSON')}
    </>
  )
  const content = <Report {...{ screen, report }} />
  return screen.show({ title: `${page.name}: report of ${report.month}`, section: 'services', content, actions })
}

interface Props {
  readonly screen: Screen
  readonly report: MonthlyReport
}

function Report({ screen, report }: Props) {
  const { from, to, isClosed, services } = report
  return (
    <>
      <p class="lead">
        <Time at={from} zone={screen.zone} /> to <Time at={to} zone={screen.zone} />.
        {isClosed ? null : ' The month is not over: the figures are preliminary.'}
      </p>
      <Table
        label="Services"
        heads={['Service', 'Available', 'Known', 'Outages', 'Maintenance', 'Corrected', 'Objectives']}
      >
        {services.map((service) => (
          <ServiceRow service={service} />
        ))}
      </Table>
      <Incidents {...{ screen, report }} />
      <Maintenances {...{ screen, report }} />
      <Corrections {...{ screen, report }} />
    </>
  )
}

function ServiceRow({ service }: { readonly service: ServiceReport }) {
  const { name, percent, coverage, tally, objectives } = service
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{percentInWords(percent)}</td>
      <td>{percentInWords(coverage)}</td>
      <td>{durationInWords(tally.bad)}</td>
      <td>{durationInWords(tally.maintenance)}</td>
      <td>{durationInWords(tally.corrected)}</td>
      <td>
        {objectives
          .map(
            ({ target, isMet }) => `${targetPercent(target)}% ${isMet === null ? 'unknown' : isMet ? 'met' : 'missed'}`,
          )
          .join(', ')}
      </td>
    </tr>
  )
}

function Incidents({ screen, report: { incidents, acknowledgement, recovery } }: Props) {
  const mean = ({ count, meanMs }: MeanTime) =>
    meanMs === null ? 'none' : `${durationInWords(meanMs)} (mean of ${count})`
  return (
    <>
      <List title="Incidents" none="No incident." isEmpty={incidents.length === 0}>
        {incidents.map(({ id, title, impact, startedAt, resolvedAt }) => (
          <li>
            <a href={screen.path(`incidents/${id}`)}>{title}</a>
            <span class="row-facts">
              {impactLabels[impact]} · <Time at={startedAt} zone={screen.zone} /> ·{' '}
              {resolvedAt === null ? 'not resolved' : durationInWords(resolvedAt.getTime() - startedAt.getTime())}
            </span>
          </li>
        ))}
      </List>
      <List title="Mean times" none="" isEmpty={false}>
        <li>
          <span>Until alerts were acknowledged</span>
          <span class="row-facts">{mean(acknowledgement)}</span>
        </li>
        <li>
          <span>Until incidents were resolved</span>
          <span class="row-facts">{mean(recovery)}</span>
        </li>
      </List>
    </>
  )
}

function Maintenances({ screen, report: { maintenances, to } }: Props) {
  return (
    <List title="Maintenance (not counted)" none="No maintenance." isEmpty={maintenances.length === 0}>
      {maintenances.map(({ id, title, startedAt, endedAt }) => (
        <li>
          <a href={screen.path(`maintenance/${id}`)}>{title}</a>
          <span class="row-facts">
            <Span from={startedAt ?? to} to={endedAt ?? to} zone={screen.zone} />
          </span>
        </li>
      ))}
    </List>
  )
}

function Corrections({ screen, report: { corrections } }: Props) {
  return (
    <List title="Corrections" none="No corrections." isEmpty={corrections.length === 0}>
      {corrections.map(({ service, startsAt, endsAt, kind, reason, author }) => (
        <li>
          <span>
            {service}: {reason}
          </span>
          <span class="row-facts">
            {correctionWords[kind]}: <Span from={startsAt} to={endsAt} zone={screen.zone} />, {author}
          </span>
        </li>
      ))}
    </List>
  )
}

function List(props: {
  readonly title: string
  readonly none: string
  readonly isEmpty: boolean
  readonly children?: Child
}) {
  return (
    <section>
      <h2>{props.title}</h2>
      {props.isEmpty ? <p>{props.none}</p> : <ul class="rows">{props.children}</ul>}
    </section>
  )
}

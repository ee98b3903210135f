import type { Child } from 'hono/jsx'
import type { BackupState } from '../../../backup/schedule.ts'
import type { MountedFileState } from '../../../configuration/mounted-file.ts'
import type { Config } from '../../../core/config.ts'
import { settingsInEffect } from '../../../core/config.ts'
import { packageVersion } from '../../../core/process/package-version.ts'
import { SECOND } from '../../../core/time.ts'
import { readServerState } from '../../../database/server-state.ts'
import { found } from '../../../diagnosis/finding.ts'
import { examineLists, listStates } from '../../../diagnosis/lists.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { UtcTime } from '../../../http/page/utc-time.tsx'
import { readRegionWork } from '../../../monitoring/schedule/region-work.ts'
import { isLive } from '../../../monitoring/watch/live-region.ts'
import { isMailEnabled } from '../../../notification/context.ts'
import { countDueDeliveries } from '../../../notification/delivery/delivery-queries.ts'
import type { MailState } from '../../../notification/mail/mail-state.ts'
import { readMailState } from '../../../notification/mail/mail-state.ts'
import type { MailAnswer } from '../../../people/mail.ts'
import { requireMail } from '../../../people/mail.ts'
import { readPerson } from '../../../people/user.ts'
import { FindingText, showHealth } from './health.tsx'
import type { OperatorScreen, OperatorScreens } from './operator-screen.tsx'
import { AllPrivateTargets, readPrivateTargetSettings, switchPrivateTargets } from './private-targets.tsx'

/** Adds the operator's screens of health, workers, blacklists, and settings with the state of email and database. */
export function operatorStateScreens({ get, action }: OperatorScreens): void {
  get('health', showHealth)
  get('workers', showWorkers)
  get('lists', showLists)
  get('settings', (screen) => showSettings(screen, emptyForm))
  action(
    'settings/private-targets',
    async (screen, { fields }) => {
      await switchPrivateTargets(screen, fields, null)
      return 'settings#private-targets'
    },
    (screen, state) => showSettings(screen, state),
  )
  // For a reload after a test, or a refused change.
  for (const path of ['mail', 'private-targets'])
    get(`settings/${path}`, (screen) => screen.c.redirect(screen.path('settings'), 303))
  action(
    'settings/mail',
    async (screen) => showSettings(screen, emptyForm, await sendTestMail(screen)),
    (screen, state) => showSettings(screen, state),
  )
}

async function showWorkers(screen: OperatorScreen): Promise<Response> {
  const { ctx } = screen
  const now = ctx.now()
  const [regions, deliveries] = await Promise.all([readRegionWork(ctx), countDueDeliveries(ctx)])
  const content = (
    <>
      <Table label="Workers" heads={['Region', 'Worker', 'Monitors', 'Due', 'Most late']}>
        {regions.map(({ region, lastSeenAt, watches, dueWatches, firstDueAt }) => (
          <tr>
            <th scope="row">{region === '*' ? 'Any region' : region}</th>
            <td>
              <LastSeen at={lastSeenAt} now={now} isAny={region === '*'} />
            </td>
            <td>{watches}</td>
            <td>{dueWatches}</td>
            <td>{lateness(firstDueAt, now)}</td>
          </tr>
        ))}
      </Table>
      <p>
        {deliveries.count === 0
          ? 'No delivery is due.'
          : `Deliveries that are due: ${deliveries.count}, the oldest ${lateness(deliveries.since, now)} late.`}
      </p>
      {regions.length === 0 ? <p class="lead">No worker has run yet. Start one with ROLE=worker or ROLE=all.</p> : null}
    </>
  )
  return screen.show('Workers', 'workers', content)
}

function LastSeen({ at, now, isAny }: { readonly at: Date | null; readonly now: Date; readonly isAny: boolean }) {
  if (at === null) return isAny ? <>–</> : <span class="problem">None seen</span>
  if (isLive(at, now)) return <>Running</>
  return (
    <span class="problem">
      Silent since <UtcTime at={at} />
    </span>
  )
}

function lateness(oldest: Date | null, now: Date): string {
  const late = oldest ? Math.max(0, Math.round((now.getTime() - oldest.getTime()) / SECOND)) : 0
  return `${late} s`
}

function showLists(screen: OperatorScreen): Response {
  const { checker, config } = screen.ctx
  const { lists, lookup } = checker
  const content = (
    <>
      <p>
        <FindingText finding={examineLists(listStates(checker), config.DNS_SERVERS)} />{' '}
        <a href="/docs/resolver">About resolvers</a>
      </p>
      <ul class="rows">
        {lists.map((list) => {
          const { status, detail } = lookup.health.get(list)
          return (
            <li>
              <span>
                {list.name} <span class="row-facts">{list.zone}</span>
              </span>
              <span class="row-facts">{status === 'ok' ? 'Answers' : `${status}: ${detail ?? ''}`}</span>
            </li>
          )
        })}
      </ul>
    </>
  )
  return screen.show('Blacklists', 'lists', content)
}

/** Sends the operator an email, and returns the mail server's answer. */
async function sendTestMail({ ctx }: OperatorScreen): Promise<MailAnswer> {
  const send = requireMail(ctx)
  const id = ctx.actor.kind === 'operator' ? (ctx.actor.userId ?? '') : ''
  const { email: to } = await readPerson(ctx, id)
  return send({
    to,
    subject: 'Test email',
    message: 'Mail works.',
    action: { label: 'Open the console', url: `${ctx.site.baseUrl}/console` },
    reason: 'You requested it in the operator’s settings.',
  })
}

async function showSettings(
  screen: OperatorScreen,
  state: FormState,
  answer: MailAnswer | null = null,
): Promise<Response> {
  const { config } = screen.ctx
  const [database, mail, privateTargets] = await Promise.all([
    readServerState(screen.ctx.db),
    readMailState(screen.ctx),
    readPrivateTargetSettings(screen),
  ])
  const isEmbedded = config.DATABASE_URL === undefined
  const megabytes = (Number(database?.bytes ?? 0) / 1e6).toFixed(0)
  const connections = isEmbedded
    ? ''
    : `, ${database?.connections ?? 0} of ${database?.maxConnections ?? '?'} connections`
  const content = (
    <>
      <FormProblem state={state} />
      <Table label="State" heads={['State', 'Value']}>
        <Row name="Version">{packageVersion}</Row>
        <Row name="Database">
          {isEmbedded ? 'Embedded' : 'Server'}, PostgreSQL {database?.version}, {megabytes} MB{connections}
        </Row>
        <Row name="Backups">
          <Backups config={config} state={screen.ctx.backups?.state() ?? null} />
        </Row>
        {config.CONFIG_FILE === undefined ? null : (
          <Row name="Configuration file">
            <ConfigurationFile state={screen.ctx.configurationFile?.state() ?? null} />
          </Row>
        )}
        <Row name="Mail">
          {isMailEnabled(config) ? <Mail mail={mail} /> : <FindingText finding={found('MAIL_NOT_SET_UP')} />}
        </Row>
      </Table>
      {isMailEnabled(config) ? <TestMail screen={screen} answer={answer} /> : null}
      <AllPrivateTargets settings={privateTargets} action={screen.path('settings/private-targets')} />
      <h2>Settings</h2>
      <Table label="Settings" heads={['Setting', 'Value']}>
        {settingsInEffect(config).map(({ name, value }) => (
          <tr>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{value}</td>
          </tr>
        ))}
      </Table>
    </>
  )
  return screen.show('Settings', 'settings', content)
}

function Row({ name, children }: { readonly name: string; readonly children: Child }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{children}</td>
    </tr>
  )
}

function Backups({ config, state }: { readonly config: Config; readonly state: BackupState | null }) {
  if (state === null) {
    return (
      <>{config.BACKUP_DIR === undefined ? 'Not regularly. Set BACKUP_DIR for regular backups.' : 'Made by workers.'}</>
    )
  }
  const { lastAt, bytes, failure } = state
  return (
    <>
      {lastAt === null ? (
        'None yet.'
      ) : (
        <>
          The last <UtcTime at={lastAt} />, {(bytes / 1e6).toFixed(1)} MB.
        </>
      )}
      {failure === null ? null : (
        <span class="problem">
          {' '}
          Failed <UtcTime at={failure.at} />: {failure.message}
        </span>
      )}
    </>
  )
}

function ConfigurationFile({ state }: { readonly state: MountedFileState | null }) {
  if (state === null) return <>Applied by workers.</>
  const { appliedAt, failure } = state
  return (
    <>
      {appliedAt === null ? (
        'Not applied since the start.'
      ) : (
        <>
          Applied <UtcTime at={appliedAt} />.
        </>
      )}
      {failure === null ? null : (
        <span class="problem">
          {' '}
          Refused <UtcTime at={failure.at} />, and what was stays: {failure.message}
        </span>
      )}
    </>
  )
}

function Mail({ mail }: { readonly mail: MailState }) {
  const { delivered, deliveredAt, failed, failure, refusal, due, dueSince } = mail
  return (
    <>
      {refusal === null ? null : (
        <>
          <strong>The mail server refuses our email: {refusal}</strong> Deliveries wait for up to a day.{' '}
        </>
      )}
      Within a day {delivered} delivered
      {deliveredAt === null ? null : (
        <>
          , the last <UtcTime at={deliveredAt} />
        </>
      )}
      ; {failed} failed
      {dueSince === null ? null : (
        <>
          ; {due} due since <UtcTime at={dueSince} />
        </>
      )}
      .
      {failure === null || refusal !== null ? null : (
        <>
          {' '}
          The last failure, <UtcTime at={failure.at} />: {failure.message}
        </>
      )}
    </>
  )
}

function TestMail({ screen, answer }: { readonly screen: OperatorScreen; readonly answer: MailAnswer | null }) {
  return (
    <form method="post" action={screen.path('settings/mail')} class="actions">
      <button type="submit" class="quiet">
        Send yourself a test email
      </button>
      {answer === null ? null : (
        <span role="status" class={answer.delivered ? undefined : 'problem'} id="mail-test">
          {answer.message}
        </span>
      )}
    </form>
  )
}

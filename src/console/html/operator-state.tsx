import type { Child } from 'hono/jsx'
import type { BackupState } from '../../backup/schedule.ts'
import type { MountedFileState } from '../../configuration/mounted-file.ts'
import type { Config } from '../../core/config.ts'
import { settingsInEffect } from '../../core/config.ts'
import { packageVersion } from '../../core/package-version.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { FormState } from '../../http/form.tsx'
import { emptyForm, FormProblem } from '../../http/form.tsx'
import { UtcTime } from '../../http/utc-time.tsx'
import { isMailEnabled } from '../../notification/context.ts'
import type { MailState } from '../../notification/mail-state.ts'
import { readMailState } from '../../notification/mail-state.ts'
import type { MailAnswer } from '../../people/mail.ts'
import { requireMail } from '../../people/mail.ts'
import type { OperatorScreen, OperatorScreens } from './operator-screen.tsx'
import { Table } from './table.tsx'

/** Adds the operator's screens of workers, blacklists, and settings with the state of mail and database. */
export function operatorStateScreens({ get, action }: OperatorScreens): void {
  get('workers', showWorkers)
  get('lists', showLists)
  get('settings', (screen) => showSettings(screen, emptyForm))
  // The address of a sent test, read again.
  get('settings/mail', ({ c, path }) => c.redirect(path('settings'), 303))
  action(
    'settings/mail',
    async (screen) => showSettings(screen, emptyForm, await sendTestMail(screen)),
    (screen, state) => showSettings(screen, state),
  )
}

/** A region without a sign of a worker for this long is silent: workers give one every ten seconds. */
const SILENT_AFTER = MINUTE

async function showWorkers(screen: OperatorScreen): Promise<Response> {
  const { ctx } = screen
  const now = ctx.now()
  const [regions, watches, deliveries] = await Promise.all([
    ctx.db.region.findMany({ orderBy: { name: 'asc' } }),
    ctx.db.$queryRaw<{ name: string; count: number; due: number; oldest: Date | null }[]>`
      SELECT region AS name, count(*)::int AS count, count(*) FILTER (WHERE "dueAt" < ${now}::timestamptz)::int AS due,
        min("dueAt") AS oldest
      FROM "Watch" WHERE "dueAt" IS NOT NULL GROUP BY region ORDER BY region`,
    ctx.db.$queryRaw<{ due: number; oldest: Date | null }[]>`
      SELECT count(*)::int AS due, min("dueAt") AS oldest FROM "Delivery" WHERE "dueAt" < ${now}::timestamptz`,
  ])
  const seen = new Map(regions.map(({ name, lastSeenAt }) => [name, lastSeenAt]))
  const names = [...new Set([...seen.keys(), ...watches.map(({ name }) => name)])].sort()
  const content = (
    <>
      <Table heads={['Region', 'Worker', 'Monitors', 'Due', 'Most late']}>
        {names.map((name) => {
          const work = watches.find((each) => each.name === name)
          return (
            <tr>
              <th scope="row">{name === '*' ? 'Any region' : name}</th>
              <td>
                <LastSeen at={seen.get(name) ?? null} now={now} isAny={name === '*'} />
              </td>
              <td>{work?.count ?? 0}</td>
              <td>{work?.due ?? 0}</td>
              <td>{lateness(work?.oldest, now)}</td>
            </tr>
          )
        })}
      </Table>
      {deliveries.map(({ due, oldest }) => (
        <p>
          {due === 0
            ? 'No delivery is due.'
            : `Deliveries that are due: ${due}, the oldest ${lateness(oldest, now)} late.`}
        </p>
      ))}
      {names.length === 0 ? <p class="lead">No worker has run yet. Start one with ROLE=worker or ROLE=all.</p> : null}
    </>
  )
  return screen.show('Workers', 'workers', content)
}

function LastSeen({ at, now, isAny }: { readonly at: Date | null; readonly now: Date; readonly isAny: boolean }) {
  if (at === null) return isAny ? <>–</> : <span class="problem">None has been seen</span>
  if (now.getTime() - at.getTime() < SILENT_AFTER) return <>Running</>
  return (
    <span class="problem">
      Silent since <UtcTime at={at} />
    </span>
  )
}

function lateness(oldest: Date | null | undefined, now: Date): string {
  const late = oldest ? Math.max(0, Math.round((now.getTime() - oldest.getTime()) / SECOND)) : 0
  return `${late} s`
}

function showLists(screen: OperatorScreen): Response {
  const { lists, lookup } = screen.ctx.checker
  const isUnfit = lists.some((list) => ['refusing', 'unreachable'].includes(lookup.health.get(list).status))
  const content = (
    <>
      {isUnfit ? (
        <p>
          Lists refuse public resolvers and those of hosting companies. Run a recursive resolver of your own and set{' '}
          <code>DNS_SERVERS</code> to its address: <a href="/docs/resolver">how to</a>.
        </p>
      ) : null}
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

/** Sends the operator a mail, and returns what the mail server answered. */
async function sendTestMail({ ctx }: OperatorScreen): Promise<MailAnswer> {
  const send = requireMail(ctx)
  const id = ctx.actor.kind === 'operator' ? (ctx.actor.userId ?? '') : ''
  const { email: to } = await ctx.db.user.findUniqueOrThrow({ where: { id }, select: { email: true } })
  return send({
    to,
    subject: 'A test of mail',
    message: 'Mail works.',
    action: { label: 'Open the console', url: `${ctx.site.baseUrl}/console` },
    reason: 'You asked for it in the operator’s settings.',
  })
}

/** Reads how large the database is, how many connections are open, and its version. */
async function readDatabaseState({ ctx }: OperatorScreen) {
  const [state] = await ctx.db.$queryRaw<{ bytes: bigint; connections: number; limit: string; version: string }[]>`
    SELECT pg_database_size(current_database()) AS bytes, split_part(current_setting('server_version'), ' ', 1) AS version,
      (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
      current_setting('max_connections') AS limit`
  return state
}

async function showSettings(
  screen: OperatorScreen,
  state: FormState,
  answer: MailAnswer | null = null,
): Promise<Response> {
  const { config } = screen.ctx
  const [database, mail] = await Promise.all([readDatabaseState(screen), readMailState(screen.ctx)])
  const isEmbedded = config.DATABASE_URL === undefined
  const megabytes = (Number(database?.bytes ?? 0) / 1e6).toFixed(0)
  const connections = isEmbedded ? '' : `, ${database?.connections ?? 0} of ${database?.limit ?? '?'} connections`
  const content = (
    <>
      <FormProblem state={state} />
      <Table heads={['State', 'Value']}>
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
        <Row name="Mail">{isMailEnabled(config) ? <Mail mail={mail} /> : 'Not set up. Set SMTP_URL to send it.'}</Row>
      </Table>
      {isMailEnabled(config) ? <TestMail screen={screen} answer={answer} /> : null}
      <h2>Settings</h2>
      <Table heads={['Setting', 'Value']}>
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
    return <>{config.BACKUP_DIR === undefined ? 'Not regularly. Set BACKUP_DIR to make them.' : 'Made by workers.'}</>
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
  const { delivered, deliveredAt, failed, failure, due, dueSince } = mail
  return (
    <>
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
      {failure === null ? null : (
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
        Send yourself a test mail
      </button>
      {answer === null ? null : (
        <span role="status" class={answer.delivered ? undefined : 'problem'} id="mail-test">
          {answer.message}
        </span>
      )}
    </form>
  )
}

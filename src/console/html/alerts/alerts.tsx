import { acknowledgeAlert } from '../../../alerting/acknowledge.ts'
import {
  listAlertChannels,
  listAlertDeliveries,
  listOpenAlerts,
  listPastAlerts,
} from '../../../alerting/alert-queries.ts'
import {
  createAlertChannel,
  deleteAlertChannel,
  ownChannel,
  rotateAlertChannelSecret,
  signingSecret,
  updateAlertChannel,
} from '../../../alerting/channel.ts'
import { addressKeys, kindByKey } from '../../../alerting/channel-address.ts'
import { changeWords, subjectPath } from '../../../alerting/message.ts'
import type { ChannelTest } from '../../../alerting/test-channel.ts'
import { testAlertChannel } from '../../../alerting/test-channel.ts'
import { typeOfId } from '../../../core/id.ts'
import type { Alert, AlertChannel, AlertDelivery } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { listUnhealthyMonitors } from '../../../monitoring/monitor/monitor-queries.ts'
import { readAttempts } from '../../../notification/queue/attempt.ts'
import type { Knowledge } from '../../../status/service/what-is-known.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ButtonForm } from '../frame/button-form.tsx'
import { readCurrentState } from '../frame/current-state.ts'
import { ConfirmDeletion, readVersion } from '../frame/edit-fields.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import { knownInWords } from '../frame/known-in-words.ts'
import { ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import { readKnown } from '../frame/read-known.ts'
import type { Screen, Screens } from '../frame/screen.tsx'
import { deliveryStatusNames } from '../subscribers/subscriber-words.ts'
import { addressIn, ChannelForm, readChoices, settingsIn } from './alert-channel-form.tsx'
import { addressKeyOf, kindLabel, silenceWords } from './alert-words.ts'

/** The maximum number of alerts and deliveries shown. */
const MAX_OPEN = 50
const MAX_PAST = 20
const MAX_DELIVERIES = 20

/** Adds the screens of alerts and alert channels. */
export function alertScreens({ get, form, action }: Screens): void {
  get('alerts', (screen) => showAlerts(screen, emptyForm))
  action(
    'alerts/:id/acknowledge',
    async ({ c, ctx }) => {
      await acknowledgeAlert(ctx, idOf(c))
      return 'alerts'
    },
    showAlerts,
  )
  form('alerts/channels/new', showNew, async ({ ctx }, { fields }) => {
    const key = keyIn(fields.get('kind'))
    const address = key === null ? {} : { [key]: addressIn(fields, key) ?? {} }
    const { id } = await createAlertChannel(ctx, { ...settingsIn(fields), ...address })
    return `alerts/channels/${id}`
  })
  form('alerts/channels/:id', showChannel, async ({ c, ctx, organization }, { fields }) => {
    const channel = await ownChannel(ctx, organization.id, idOf(c))
    const key = addressKeyOf(channel.kind)
    const address = addressIn(fields, key)
    const edit = withoutLocked({ ...settingsIn(fields), ...(address !== null && { [key]: address }) }, fields)
    await updateAlertChannel(ctx, { ...edit, id: channel.id, version: readVersion(fields) })
    return 'alerts'
  })
  action(
    'alerts/channels/:id/test',
    async (screen) => showChannel(screen, emptyForm, await testAlertChannel(screen.ctx, idOf(screen.c))),
    showChannel,
  )
  action(
    'alerts/channels/:id/secret',
    async ({ c, ctx }) => `alerts/channels/${(await rotateAlertChannelSecret(ctx, idOf(c))).id}`,
    showChannel,
  )
  form('alerts/channels/:id/delete', showDeletion, async ({ c, ctx }) => {
    await deleteAlertChannel(ctx, idOf(c))
    return 'alerts'
  })
}

const idOf = (c: Screen['c']) => c.req.param('id') ?? ''
const keyIn = (text: string | null | undefined) => addressKeys.find((key) => key === text) ?? null

async function showAlerts(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const [open, past, channels, troubles, page] = await Promise.all([
    listOpenAlerts(ctx, organization.id, MAX_OPEN + 1),
    listPastAlerts(ctx, organization.id, MAX_PAST),
    listAlertChannels(ctx, organization.id),
    listUnhealthyMonitors(ctx, organization.id, MAX_OPEN),
    readCurrentState(screen),
  ])
  const known = await readKnown(screen, page, troubles)
  const actions =
    screen.may('WRITE') && channels.length > 0 ? (
      <a class="button" href={screen.path('alerts/channels/new')}>
        Add a channel
      </a>
    ) : null
  const content =
    channels.length === 0 ? (
      <>
        <FormProblem state={state} />
        <FirstStep screen={screen} path="alerts/channels/new" text="Add a channel">
          No one is alerted yet. A channel notifies your team when a monitor goes down, by email, chat, phone or pager.{' '}
          <a href={screen.path('integrations')}>Alerts from other tools</a> can come in as well.
        </FirstStep>
      </>
    ) : (
      <>
        <FormProblem state={state} />
        <section>
          <h2>Now</h2>
          {open.length === 0 ? (
            <NoAlert {...{ screen, known }} />
          ) : (
            <AlertList {...{ screen, alerts: open.slice(0, MAX_OPEN) }} />
          )}
          {open.length > MAX_OPEN ? (
            <p class="hint">
              These are the newest {MAX_OPEN}.{' '}
              <a href={screen.path('monitors?state=DOWN')}>All monitors that are down</a>
            </p>
          ) : null}
        </section>
        <section>
          <h2>Channels</h2>
          <ul class="rows">
            {channels.map((channel) => (
              <ChannelRow {...{ screen, channel }} last={channel.deliveries[0]} />
            ))}
          </ul>
        </section>
        <p class="more">
          <a href={screen.path('integrations')}>Alerts from other tools</a>
        </p>
        {past.length === 0 ? null : (
          <section>
            <h2>Past</h2>
            <AlertList {...{ screen, alerts: past }} />
          </section>
        )}
      </>
    )
  return screen.show({ title: 'Alerts', section: 'alerts', content, actions }, state)
}

/** Says what is known when no alert is open: a problem may be older than the channels, or silenced. */
function NoAlert({ screen, known }: { readonly screen: Screen; readonly known: Knowledge }) {
  const sentence =
    known.kind === 'PROBLEM'
      ? 'No alert is open, but there are problems.'
      : (knownInWords(known) ?? 'Nothing is monitored yet.')
  return (
    <p class="lead">
      {sentence}{' '}
      {known.kind === 'PROBLEM' || known.kind === 'NO_DATA' ? <a href={screen.path('now')}>See them</a> : null}
    </p>
  )
}

function AlertList({ screen, alerts }: { readonly screen: Screen; readonly alerts: readonly Alert[] }) {
  return (
    <ul class="rows">
      {alerts.map((alert) => (
        <AlertRow {...{ screen, alert }} />
      ))}
    </ul>
  )
}

function AlertRow({ screen, alert }: { readonly screen: Screen; readonly alert: Alert }) {
  const { id, change, subjectId, subjectName, message, since, endedAt, acknowledgedAt, acknowledgedBy } = alert
  const { count, silence } = alert
  const about = `${changeWords[change]}: ${subjectName}`
  return (
    <li id={id}>
      <div class="row-about">
        <a href={screen.path(subjectPath(subjectId))}>{about}</a>
        <span class="row-facts">
          {message === '' ? null : `${message} · `}
          {count > 1 ? `${count} times · ` : null}
          {silence === null ? null : `${silenceWords[silence]} · `}
          {endedAt === null ? 'since ' : 'over since '}
          <Time at={endedAt ?? since} zone={screen.zone} />
          {acknowledgedAt === null ? null : (
            <>
              {' '}
              · acknowledged by {acknowledgedBy} <Time at={acknowledgedAt} zone={screen.zone} />
            </>
          )}
        </span>
      </div>
      {endedAt === null && screen.may('WRITE') ? (
        <div class="actions">
          {acknowledgedAt === null ? (
            <ButtonForm action={screen.path(`alerts/${id}/acknowledge`)} fields={{}} text="Acknowledge" about={about} />
          ) : null}
          {typeOfId(subjectId) === 'Monitor' ? (
            <a
              class="button quiet"
              href={screen.path(`incidents/new?monitor=${subjectId}`)}
              aria-label={`Report an incident: ${subjectName}`}
            >
              Report an incident
            </a>
          ) : null}
        </div>
      ) : null}
    </li>
  )
}

function ChannelRow({
  screen,
  channel,
  last,
}: {
  readonly screen: Screen
  readonly channel: AlertChannel
  readonly last: AlertDelivery | undefined
}) {
  const { id, name, kind, label, monitorIds, serviceIds } = channel
  const chosen = monitorIds.length + serviceIds.length
  return (
    <li id={id}>
      <div class="row-about">
        <a href={screen.path(`alerts/channels/${id}`)}>{name}</a>
        <span class="row-facts">
          {kindLabel(kind)} · {label} · {chosen === 0 ? 'every monitor' : 'some monitors'}
          {last?.status === 'FAILED'
            ? ` · the last message failed: ${readAttempts(last.attempts).at(-1)?.message}`
            : null}
        </span>
      </div>
    </li>
  )
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const key = keyIn(state.fields.get('kind') ?? screen.c.req.query('kind'))
  if (key === null) {
    const content = (
      <ul class="rows">
        {addressKeys.map((each) => (
          <li>
            <a href={screen.path(`alerts/channels/new?kind=${each}`)}>{kindLabel(kindByKey[each])}</a>
          </li>
        ))}
      </ul>
    )
    return screen.show({ title: 'How should your team be alerted?', section: 'alerts', content }, state)
  }
  const kind = kindByKey[key]
  const choices = await readChoices(screen, null)
  const content = <ChannelForm {...{ screen, state, kind, channel: null, choices }} />
  return screen.show({ title: `New channel: ${kindLabel(kind)}`, section: 'alerts', content }, state)
}

async function showChannel(screen: Screen, state: FormState, test: ChannelTest | null = null): Promise<Response> {
  const { c, ctx, organization } = screen
  const channel = await ownChannel(ctx, organization.id, idOf(c))
  const [choices, deliveries] = await Promise.all([
    readChoices(screen, channel),
    listAlertDeliveries(ctx, channel.id, MAX_DELIVERIES),
  ])
  const lock = await readLock(screen, channel.id, state)
  const mayWrite = screen.may('WRITE')
  const secret = mayWrite ? signingSecret(ctx, channel) : null
  const content = (
    <>
      <ManagedNote screen={screen} managed={lock.managed} />
      {test === null ? null : <Answer test={test} />}
      {mayWrite ? (
        <form method="post" action={screen.path(`alerts/channels/${channel.id}/test`)}>
          <p class="actions">
            <button type="submit" class="quiet" name="test" value="true">
              Send a test
            </button>
          </p>
        </form>
      ) : null}
      {mayWrite ? (
        <ChannelForm {...{ screen, kind: channel.kind, channel, choices }} state={lock.state} />
      ) : (
        <>
          <FormProblem state={state} />
          <p class="lead">
            {kindLabel(channel.kind)} · {channel.label}
          </p>
        </>
      )}
      {secret === null ? null : (
        <section>
          <h2>Signing secret</h2>
          <p>Each message is signed with it, as Standard Webhooks specifies.</p>
          <p class="secret">{secret}</p>
          {channel.formerSecretUntil !== null && ctx.now() < channel.formerSecretUntil ? (
            <p>
              The previous secret also signs until <Time at={channel.formerSecretUntil} zone={screen.zone} />.
            </p>
          ) : null}
          <form method="post" action={screen.path(`alerts/channels/${channel.id}/secret`)}>
            <p class="actions">
              <button type="submit" class="quiet">
                Rotate secret
              </button>
            </p>
          </form>
        </section>
      )}
      <Deliveries {...{ screen, deliveries }} />
    </>
  )
  const actions = mayWrite ? (
    <a class="button quiet" href={screen.path(`alerts/channels/${channel.id}/delete`)}>
      Delete
    </a>
  ) : null
  return screen.show({ title: channel.name, section: 'alerts', content, actions }, state)
}

/** Shows the provider's answer to a test. */
function Answer({ test: { delivered, message, answer } }: { readonly test: ChannelTest }) {
  return (
    <div class="answer" id="answer" role="status" data-state={delivered ? 'UP' : 'DOWN'}>
      <p>
        <span class="state">{delivered ? 'Delivered' : 'Failed'}</span>: {message}
      </p>
      {answer === null ? null : (
        <p class="row-facts">
          Its answer: <code>{answer}</code>
        </p>
      )}
    </div>
  )
}

function Deliveries({
  screen,
  deliveries,
}: {
  readonly screen: Screen
  readonly deliveries: readonly AlertDelivery[]
}) {
  if (deliveries.length === 0) return null
  return (
    <section>
      <h2>Last messages</h2>
      <Table label="Last messages" heads={['Created', 'State', 'Attempts', 'Last answer']}>
        {deliveries.map(({ id, createdAt, status, attempts }) => (
          <tr id={id}>
            <td>
              <Time at={createdAt} zone={screen.zone} />
            </td>
            <td>{deliveryStatusNames[status]}</td>
            <td>{readAttempts(attempts).length}</td>
            <td>{readAttempts(attempts).at(-1)?.message ?? '–'}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx, organization } = screen
  const { id, name } = await ownChannel(ctx, organization.id, idOf(c))
  const content = (
    <ConfirmDeletion {...{ state, what: name, back: screen.path(`alerts/channels/${id}`) }}>
      <p>It no longer gets alerts, and pending messages are not sent. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this channel?', section: 'alerts', content }, state)
}

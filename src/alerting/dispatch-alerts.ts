import { newId, typeOfId } from '../core/id.ts'
import { change } from '../event-log/change.ts'
import type { Alert, AlertChannel, Event, Monitor } from '../generated/prisma/client.ts'
import type { AlertSilence } from '../generated/prisma/enums.ts'
import type { ChannelNotifier } from './channel-notifier.ts'
import { createChannelNotifier } from './channel-notifier.ts'
import type { AlertWorkContext } from './context.ts'
import { FLAPPING_MS, nextReview, silenceOf } from './rules.ts'
import type { AlertItem } from './sender/item.ts'
import type { AlertSubject } from './subject.ts'
import { circumstancesOf, monitorSubject, readObjectiveSubjects } from './subject.ts'
import type { SubjectChange } from './subject-change.ts'
import { alertSubjectOf, monitorChangeOf, objectiveChangeOf } from './subject-change.ts'

/**
 * Turns events into alerts and their deliveries, in the transaction that moves the dispatcher's position, so that each event takes
 * effect once even if a worker is killed. The dispatcher reads the events of an organization in order.
 */
export async function dispatchAlerts(
  tx: AlertWorkContext,
  organizationId: string,
  events: readonly Event[],
): Promise<void> {
  const relevant = events.filter(({ kind }) => alertSubjectOf(kind) !== null)
  if (relevant.length === 0) return
  const channels = await tx.db.alertChannel.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  // Without a channel, no alert begins, but the open ones end.
  if (channels.length === 0 && !(await hasOpenAlert(tx, organizationId))) return
  await change(tx, organizationId, async (locked) => {
    const notifier = createChannelNotifier(locked, channels)
    await dispatchTo(channels, locked, organizationId, relevant, notifier)
    return [undefined, ...(await notifier.send())]
  })
}

async function hasOpenAlert({ db }: Pick<AlertWorkContext, 'db'>, organizationId: string): Promise<boolean> {
  return (await db.alert.findFirst({ where: { organizationId, endedAt: null }, select: { id: true } })) !== null
}

async function dispatchTo(
  channels: readonly AlertChannel[],
  tx: AlertWorkContext,
  organizationId: string,
  relevant: readonly Event[],
  notifier: ChannelNotifier,
): Promise<void> {
  const ids = relevant.map(({ subjectId }) => subjectId)
  const found = await tx.db.monitor.findMany({ where: { organizationId, id: { in: ids } } })
  const monitors = new Map(found.map((monitor) => [monitor.id, monitor]))
  const objectives = await readObjectiveSubjects(
    tx,
    organizationId,
    ids.filter((id) => typeOfId(id) === 'Objective'),
  )
  for (const event of relevant) {
    const monitor = monitors.get(event.subjectId) ?? null
    const subjectChange = await changeAbout(tx, event, monitor)
    const objective = objectives.find(({ id }) => id === event.subjectId) ?? null
    const subject = monitor === null ? objective : monitorSubject(monitor)
    if (subjectChange === null || (subjectChange.kind === 'FAILING' && channels.length === 0)) continue
    await apply(tx, { event, subject, subjectChange, notifier })
  }
  for (const event of relevant) if (event.kind === 'SERVICE_DELETED') await closeOrphans(tx, event, notifier)
}

/** Returns how an event changes the alert of its monitor or objective, or null if it does not. */
function changeAbout(
  tx: AlertWorkContext,
  event: Event,
  monitor: Monitor | null,
): Promise<SubjectChange | null> | null {
  switch (alertSubjectOf(event.kind)) {
    case 'monitor':
      return monitorChangeOf(tx, event, monitor)
    case 'objective':
      return objectiveChangeOf(tx, event)
    default:
      return null
  }
}

/** Closes the alerts of objectives that were deleted with their service, because that deletion appends no event for them. */
async function closeOrphans(tx: AlertWorkContext, event: Event, notifier: ChannelNotifier): Promise<void> {
  const { organizationId } = event
  const open = await tx.db.alert.findMany({ where: { organizationId, change: 'BUDGET_BURNING', endedAt: null } })
  for (const { subjectId } of open) {
    const subjectChange = await objectiveChangeOf(tx, { ...event, kind: 'OBJECTIVE_DELETED', subjectId })
    if (subjectChange?.kind === 'CLOSED')
      await apply(tx, { event: { ...event, subjectId }, subject: null, subjectChange, notifier })
  }
}

interface Occurrence {
  readonly event: Event
  readonly subject: AlertSubject | null
  readonly subjectChange: SubjectChange
  readonly notifier: ChannelNotifier
}

async function apply(tx: AlertWorkContext, { event, subject, subjectChange, notifier }: Occurrence): Promise<void> {
  const { organizationId, subjectId, at, seq } = event
  const last = await tx.db.alert.findFirst({ where: { organizationId, subjectId }, orderBy: { openedAt: 'desc' } })
  const open = last?.endedAt === null ? last : null
  if (subjectChange.kind !== 'FAILING') {
    if (open) await end(tx, open, subject, subjectChange, { at, notifier, seq })
    return
  }
  const { change: what, state, since, message } = subjectChange
  const isSame = open?.change === what && open.since.getTime() === since.getTime()
  if (subject === null || isSame) return
  if (subject.blockedSince !== null && event.kind === 'MONITOR_UNKNOWN') {
    if (open)
      await tx.db.alert.update({
        where: { id: open.id },
        data: { silence: 'PARENT_DOWN', dueAt: nextReview('PARENT_DOWN', tx.now()) },
      })
    return
  }
  const now = { change: what, state, since, message, subjectName: subject.name }
  const alert = open
    ? await tx.db.alert.update({ where: { id: open.id }, data: now })
    : await begin(tx, last, { organizationId, subjectId, ...now }, at)
  await announce(tx, alert, subject, last, { event, notifier })
}

/** Decides whether an alert that began or changed is silent; if not, notifies its channels and logs it. */
async function announce(
  tx: AlertWorkContext,
  alert: Alert,
  subject: AlertSubject,
  last: Alert | null,
  { event: { at, seq }, notifier }: Pick<Occurrence, 'event' | 'notifier'>,
): Promise<void> {
  const silence = silenceOf({ ...(await circumstancesOf(tx, subject)), count: alert.count, settled: false })
  await tx.db.alert.update({ where: { id: alert.id }, data: { silence, dueAt: nextReview(silence, tx.now()) } })
  const hasBegun = last === null || last.endedAt !== null
  // A flapping monitor would fill the log.
  if (hasBegun && silence !== 'FLAPPING') notifier.log('ALERT_OPENED', alert)
  if (silence === null) await notifier.notify(alert, subject, itemOf(alert, 'CHANGE', at), { seq })
  // The channels get one message about flapping, then none until the monitor is stable.
  else if (silence === 'FLAPPING' && last?.silence !== 'FLAPPING')
    await notifier.notify(alert, subject, itemOf(alert, 'FLAPPING', at), { seq })
}

type NewAlert = Pick<Alert, 'organizationId' | 'subjectId' | 'subjectName' | 'change' | 'state' | 'since' | 'message'>

/** Opens an alert, or reopens the monitor's last one if it ended less than FLAPPING_MS ago. */
async function begin({ db }: AlertWorkContext, last: Alert | null, alert: NewAlert, at: Date): Promise<Alert> {
  if (last?.endedAt && at.getTime() - last.endedAt.getTime() < FLAPPING_MS) {
    const again = { count: { increment: 1 }, endedAt: null, acknowledgedAt: null, acknowledgedBy: null }
    return db.alert.update({ where: { id: last.id }, data: { ...alert, ...again } })
  }
  return db.alert.create({ data: { ...alert, id: newId('Alert'), openedAt: at } })
}

async function end(
  tx: AlertWorkContext,
  alert: Alert,
  subject: AlertSubject | null,
  subjectChange: Exclude<SubjectChange, { readonly kind: 'FAILING' }>,
  { at, notifier, seq }: Pick<Occurrence, 'notifier'> & { readonly at: Date; readonly seq: number },
): Promise<void> {
  const isFlapping = alert.silence === 'FLAPPING'
  const isNotified = !isFlapping || subjectChange.kind === 'CLOSED'
  const silence: AlertSilence | null = isNotified ? null : 'FLAPPING'
  const state = subjectChange.kind === 'RECOVERED' ? 'UP' : subjectChange.state
  const ended = await tx.db.alert.update({
    where: { id: alert.id },
    data: { endedAt: at, state, silence, dueAt: nextReview(silence, tx.now()) },
  })
  await tx.db.alertRecipient.updateMany({
    where: { alertId: alert.id },
    data: { remindAt: null, escalateAt: null },
  })
  if (!isNotified) return
  notifier.log('ALERT_ENDED', ended)
  const lastedMs = Math.max(
    0,
    (subjectChange.kind === 'RECOVERED' ? subjectChange.since : at).getTime() - alert.since.getTime(),
  )
  const item = { ...itemOf(ended, subjectChange.kind === 'RECOVERED' ? 'CHANGE' : 'CLOSED', at), lastedMs }
  if (subjectChange.kind === 'CLOSED') return notifier.close(ended, { ...item, message: subjectChange.message })
  const { change: recovery, since } = subjectChange
  const up = { ...item, change: recovery, since }
  // No channel got an alert that was silent throughout, so none gets its end.
  if (alert.silence === null) await notifier.notify(ended, subject, up, { seq })
  else await notifier.close(ended, up)
}

/** Returns the message item of an alert in its current state. */
export function itemOf(alert: Alert, about: AlertItem['about'], at: Date): AlertItem {
  const { id, state, since, message, subjectId, subjectName, count, acknowledgedBy } = alert
  return {
    alertId: id,
    about,
    change: alert.change,
    monitor: { id: subjectId, name: subjectName },
    state,
    since,
    message,
    at,
    count,
    lastedMs: null,
    by: acknowledgedBy,
  }
}

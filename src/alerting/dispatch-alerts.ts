import { newId, typeOfId } from '../core/id.ts'
import type { Alert, Event } from '../generated/prisma/client.ts'
import type { AlertSilence } from '../generated/prisma/enums.ts'
import { circumstancesOf } from './circumstances.ts'
import type { AlertWorkContext } from './context.ts'
import type { Finding } from './finding.ts'
import { alertingKinds, findingOf } from './finding.ts'
import type { AlertItem } from './item.ts'
import { objectiveFindingOf, objectiveKinds } from './objective-finding.ts'
import { FLAPPING_MS, nextLook, silenceOf } from './rules.ts'
import type { AlertSubject } from './subject.ts'
import { monitorSubject, readObjectiveSubjects } from './subject.ts'
import type { Telling } from './telling.ts'
import { createTelling } from './telling.ts'

/**
 * Turns events into alerts and their deliveries, in the transaction that moves the dispatcher's position: so each event is told once,
 * whichever worker dies when. The dispatcher reads the events of an organization one after another.
 */
export async function dispatchAlerts(
  tx: AlertWorkContext,
  organizationId: string,
  events: readonly Event[],
): Promise<void> {
  const relevant = events.filter(({ kind }) => alertingKinds.has(kind) || objectiveKinds.has(kind))
  const isServiceDeleted = events.some(({ kind }) => kind === 'SERVICE_DELETED')
  if (relevant.length === 0 && !isServiceDeleted) return
  const channels = await tx.db.alertChannel.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  if (channels.length === 0) return
  const ids = relevant.map(({ subjectId }) => subjectId)
  const found = await tx.db.monitor.findMany({ where: { organizationId, id: { in: ids } } })
  const monitors = new Map(found.map((monitor) => [monitor.id, monitor]))
  const objectives = await readObjectiveSubjects(
    tx,
    organizationId,
    ids.filter((id) => typeOfId(id) === 'Objective'),
  )
  const telling = createTelling(tx, channels)
  for (const event of relevant) {
    const isObjective = objectiveKinds.has(event.kind)
    const monitor = monitors.get(event.subjectId) ?? null
    const finding = isObjective ? await objectiveFindingOf(tx, event) : await findingOf(tx, event, monitor)
    const objective = objectives.find(({ id }) => id === event.subjectId) ?? null
    const subject = monitor === null ? objective : monitorSubject(monitor)
    if (finding) await apply(tx, { event, subject, finding, telling })
  }
  for (const event of events) if (event.kind === 'SERVICE_DELETED') await closeOrphans(tx, event, telling)
  await telling.send()
}

/** An objective is deleted with its service, without an event of its own. */
async function closeOrphans(tx: AlertWorkContext, event: Event, telling: Telling): Promise<void> {
  const { organizationId } = event
  const open = await tx.db.alert.findMany({ where: { organizationId, change: 'BUDGET_BURNING', endedAt: null } })
  for (const { monitorId: subjectId } of open) {
    const finding = await objectiveFindingOf(tx, { ...event, kind: 'OBJECTIVE_DELETED', subjectId })
    if (finding?.kind === 'CLOSED') await apply(tx, { event: { ...event, subjectId }, subject: null, finding, telling })
  }
}

interface Occurrence {
  readonly event: Event
  readonly subject: AlertSubject | null
  readonly finding: Finding
  readonly telling: Telling
}

async function apply(tx: AlertWorkContext, { event, subject, finding, telling }: Occurrence): Promise<void> {
  const { organizationId, subjectId: monitorId, at, seq } = event
  const last = await tx.db.alert.findFirst({ where: { organizationId, monitorId }, orderBy: { openedAt: 'desc' } })
  const open = last?.endedAt === null ? last : null
  if (finding.kind !== 'WRONG') {
    if (open) await end(tx, open, subject, finding, { at, telling, seq })
    return
  }
  const { change, state, since, message } = finding
  const isSame = open?.change === change && open.since.getTime() === since.getTime()
  if (subject === null || isSame) return
  if (subject.blockedSince !== null && event.kind === 'MONITOR_UNKNOWN') {
    if (open)
      await tx.db.alert.update({
        where: { id: open.id },
        data: { silence: 'PARENT_DOWN', dueAt: nextLook('PARENT_DOWN', tx.now()) },
      })
    return
  }
  const now = { change, state, since, message, monitorName: subject.name }
  const alert = open
    ? await tx.db.alert.update({ where: { id: open.id }, data: now })
    : await begin(tx, last, { organizationId, monitorId, ...now }, at)
  const silence = silenceOf({ ...(await circumstancesOf(tx, subject)), count: alert.count, settled: false })
  await tx.db.alert.update({ where: { id: alert.id }, data: { silence, dueAt: nextLook(silence, tx.now()) } })
  if (silence === null) await telling.tell(alert, subject, itemOf(alert, 'CHANGE', at), { seq })
  // Once: then nothing until it keeps a state.
  else if (silence === 'FLAPPING' && last?.silence !== 'FLAPPING')
    await telling.tell(alert, subject, itemOf(alert, 'FLAPPING', at), { seq })
}

type NewAlert = Pick<Alert, 'organizationId' | 'monitorId' | 'monitorName' | 'change' | 'state' | 'since' | 'message'>

/** Opens an alert, or again the last one of the monitor when that ended a short while ago. */
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
  finding: Exclude<Finding, { readonly kind: 'WRONG' }>,
  { at, telling, seq }: { readonly at: Date; readonly telling: Telling; readonly seq: number },
): Promise<void> {
  const isFlapping = alert.silence === 'FLAPPING'
  const isTold = !isFlapping || finding.kind === 'CLOSED'
  const silence: AlertSilence | null = isTold ? null : 'FLAPPING'
  const state = finding.kind === 'UP' ? 'UP' : finding.state
  const ended = await tx.db.alert.update({
    where: { id: alert.id },
    data: { endedAt: at, state, silence, dueAt: nextLook(silence, tx.now()) },
  })
  await tx.db.alertRecipient.updateMany({
    where: { alertId: alert.id },
    data: { remindAt: null, escalateAt: null },
  })
  if (!isTold) return
  const lastedMs = Math.max(0, (finding.kind === 'UP' ? finding.since : at).getTime() - alert.since.getTime())
  const item = { ...itemOf(ended, finding.kind === 'UP' ? 'CHANGE' : 'CLOSED', at), lastedMs }
  if (finding.kind === 'CLOSED') return telling.end(ended, { ...item, message: finding.message })
  const { change, since } = finding
  const up = { ...item, change, since }
  // What nobody was told of has ended for nobody.
  if (alert.silence === null) await telling.tell(ended, subject, up, { seq })
  else await telling.end(ended, up)
}

/** Returns what is told of an alert now. */
export function itemOf(alert: Alert, about: AlertItem['about'], at: Date): AlertItem {
  const { id, change, state, since, message, monitorId, monitorName, count, acknowledgedBy } = alert
  return {
    alertId: id,
    about,
    change,
    monitor: { id: monitorId, name: monitorName },
    state,
    since,
    message,
    at,
    count,
    lastedMs: null,
    by: acknowledgedBy,
  }
}

import { notDeleted } from '../account/not-deleted.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { MINUTE } from '../core/time.ts'
import { unavailability } from '../database/connection/unavailable.ts'
import { earliestOf } from '../database/lease/agenda.ts'
import { change } from '../event-log/change.ts'
import type { Alert, AlertChannel, AlertRecipient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { ChannelNotifier } from './channel-notifier.ts'
import { createChannelNotifier } from './channel-notifier.ts'
import type { AlertWorkContext } from './context.ts'
import { itemOf } from './dispatch-alerts.ts'
import { needsFollowUp, nextReview, silenceOf } from './rules.ts'
import type { AlertSubject } from './subject.ts'
import { circumstancesOf, monitorSubject, readObjectiveSubjects } from './subject.ts'

/** How many organizations one run follows up, and how many alerts of an organization one transaction follows up. */
const ORGANIZATIONS = 50
const BATCH = 200

/** Selects when the next review, reminder or escalation is due. */
export const EARLIEST_FOLLOW_UP = Prisma.sql`
  SELECT least((${earliestOf('Alert', notDeleted)}), (${earliestOfRecipients('remindAt')}), (${earliestOfRecipients('escalateAt')}))`

/** Like `earliestOf`, for rows whose organization is that of their alert. Stops at the first one. */
function earliestOfRecipients(column: 'remindAt' | 'escalateAt'): Prisma.Sql {
  const due = Prisma.raw(`recipient."${column}"`)
  return Prisma.sql`
    SELECT ${due} FROM "AlertRecipient" AS recipient JOIN "Alert" AS alert ON alert.id = recipient."alertId"
    WHERE ${due} IS NOT NULL AND ${notDeleted} ORDER BY 1 LIMIT 1`
}

/**
 * Sends alerts whose silence has ended, and reminders and escalations of unacknowledged alerts. If a worker is killed, its
 * transaction rolls back and the next worker repeats it. An organization that fails is due again in a minute, at once if the database is
 * at fault, and does not stop the others. Returns when the next follow-up is due, or null if none is planned.
 */
export async function followUpAlerts(ctx: AlertWorkContext): Promise<Date | null> {
  const now = ctx.now()
  const due = await ctx.db.$queryRaw<{ organizationId: string }[]>`
    SELECT "organizationId" FROM (
      SELECT "organizationId", "dueAt" AS at FROM "Alert" WHERE "dueAt" <= ${now}
      UNION ALL
      SELECT alert."organizationId", least(recipient."remindAt", recipient."escalateAt")
      FROM "AlertRecipient" AS recipient JOIN "Alert" AS alert ON alert.id = recipient."alertId"
      WHERE recipient."remindAt" <= ${now} OR recipient."escalateAt" <= ${now}
    ) AS due
    WHERE ${notDeleted} GROUP BY "organizationId" ORDER BY min(at), "organizationId" LIMIT ${ORGANIZATIONS}`
  for (const { organizationId } of due) {
    try {
      await followUpOrganization(ctx, organizationId)
    } catch (error) {
      ctx.log.error({ err: error, organization: organizationId }, 'alerting: could not follow up alerts; retrying')
      if (unavailability(error) === null) await postpone(ctx, organizationId)
    }
  }
  const [next] = await ctx.db.$queryRaw<{ at: Date | null }[]>`SELECT (${EARLIEST_FOLLOW_UP}) AS at`
  return next?.at ?? null
}

/** Makes the due follow-ups of an organization due a minute from now. */
async function postpone({ db, now }: Pick<Context, 'db' | 'now'>, organizationId: string): Promise<void> {
  const [at, later] = [now(), new Date(now().getTime() + MINUTE)]
  await db.alert.updateMany({ where: { organizationId, dueAt: { lte: at } }, data: { dueAt: later } })
  for (const column of ['remindAt', 'escalateAt'] as const) {
    const where = { alert: { organizationId }, [column]: { lte: at } }
    await db.alertRecipient.updateMany({ where, data: { [column]: later } })
  }
}

/**
 * Corrects reminders and escalations that are further ahead than their channel waits, as after the clock was set back.
 */
export async function correctFollowUpTimes({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  for (const [column, minutes] of [
    ['remindAt', 'remindAfterMinutes'],
    ['escalateAt', 'escalateAfterMinutes'],
  ] as const) {
    const due = Prisma.raw(`"${column}"`)
    // A follow-up of a silent alert is postponed by a minute at a time.
    const latest = Prisma.sql`${now()}::timestamptz + greatest(channel.${Prisma.raw(`"${minutes}"`)}, 1) * interval '1 minute'`
    await db.$executeRaw`
      UPDATE "AlertRecipient" AS recipient SET ${due} = ${latest} FROM "AlertChannel" AS channel
      WHERE channel.id = recipient."channelId" AND recipient.${due} > ${latest}`
  }
}

/** Follows up the alerts of one organization. Takes the lock of its dispatcher, which also changes alerts. */
async function followUpOrganization(ctx: AlertWorkContext, organizationId: string): Promise<void> {
  await transaction(ctx, async (open) => {
    await open.db.$queryRaw`SELECT seq FROM "Dispatch" WHERE "organizationId" = ${organizationId} FOR UPDATE`
    await change(open, organizationId, async (tx) => {
      const channels = await tx.db.alertChannel.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
      const notifier = createChannelNotifier(tx, channels)
      await endSilences(tx, organizationId, notifier)
      await followUpRecipients(tx, { organizationId, channels, notifier })
      return [undefined, ...(await notifier.send())]
    })
  })
}

async function endSilences(tx: AlertWorkContext, organizationId: string, notifier: ChannelNotifier): Promise<void> {
  const { db, now } = tx
  const due = await db.alert.findMany({
    where: { organizationId, dueAt: { lte: now() } },
    orderBy: [{ openedAt: 'asc' }, { subjectName: 'asc' }, { id: 'asc' }],
    take: BATCH,
  })
  const subjects = await subjectsOf(tx, organizationId, due)
  for (const alert of due) {
    const subject = subjects.get(alert.subjectId) ?? null
    const silence = await silenceNow(tx, alert, subject)
    const data = { silence, dueAt: nextReview(silence, now()) }
    const after = await db.alert.update({ where: { id: alert.id }, data })
    if (silence !== null || subject === null) continue
    const item = itemOf(after, 'CHANGE', now())
    if (alert.endedAt === null) {
      const notified = await alreadyNotified(tx, alert)
      const lastedMs = now().getTime() - alert.since.getTime()
      await notifier.notify(after, subject, { ...item, lastedMs }, { ...allChannels, notified })
    } else {
      notifier.log('ALERT_ENDED', after)
      await notifier.notify(
        after,
        subject,
        { ...item, change: subject.recovery, state: 'UP', since: alert.endedAt },
        allChannels,
      )
    }
  }
}

/** Returns the channels that were notified of the alert’s current state. They need no message when its silence ends. */
async function alreadyNotified({ db, now }: Pick<Context, 'db' | 'now'>, alert: Alert): Promise<Set<string>> {
  const found = await db.alertRecipient.findMany({
    where: { alertId: alert.id, count: alert.count, notifiedAt: { gte: alert.since, lte: now() } },
    select: { channelId: true },
  })
  return new Set(found.map(({ channelId }) => channelId))
}

/**
 * Returns why an alert is still silent, or null if its silence has ended. A flapping monitor has been stable long enough by then.
 */
async function silenceNow(tx: AlertWorkContext, { endedAt, count }: Alert, subject: AlertSubject | null) {
  if (endedAt !== null || subject === null) return null
  return silenceOf({ ...(await circumstancesOf(tx, subject)), count, settled: true })
}

/** A position that includes every existing channel. */
const allChannels = { seq: Number.POSITIVE_INFINITY } as const

async function subjectsOf(
  tx: Pick<Context, 'db'>,
  organizationId: string,
  alerts: readonly Alert[],
): Promise<Map<string, AlertSubject>> {
  const ids = alerts.map(({ subjectId }) => subjectId)
  const monitors = await tx.db.monitor.findMany({ where: { organizationId, id: { in: ids } } })
  const subjects = [...monitors.map(monitorSubject), ...(await readObjectiveSubjects(tx, organizationId, ids))]
  return new Map(subjects.map((subject) => [subject.id, subject]))
}

/** An organization's channels, and the notifier of the transaction. */
interface FollowUp {
  readonly organizationId: string
  readonly channels: readonly AlertChannel[]
  readonly notifier: ChannelNotifier
}

async function followUpRecipients(tx: AlertWorkContext, followUp: FollowUp): Promise<void> {
  const { db, now } = tx
  const { organizationId, channels } = followUp
  const due = await db.alertRecipient.findMany({
    where: { alert: { organizationId }, OR: [{ remindAt: { lte: now() } }, { escalateAt: { lte: now() } }] },
    include: { alert: true },
    orderBy: [{ alert: { openedAt: 'asc' } }, { alert: { subjectName: 'asc' } }, { alertId: 'asc' }],
    take: BATCH,
  })
  for (const { alert, ...recipient } of due) {
    const channel = channels.find(({ id }) => id === recipient.channelId)
    if (!channel || alert.endedAt !== null || alert.acknowledgedAt !== null) {
      await setTimes(tx, recipient, { remindAt: null, escalateAt: null })
      continue
    }
    // While an alert is silent, its reminder and escalation wait.
    if (needsFollowUp(alert)) await remindOrEscalate(tx, { ...followUp, alert, recipient, channel })
    else await setTimes(tx, recipient, postponed(recipient, now()))
  }
}

const postponed = ({ remindAt, escalateAt }: AlertRecipient, now: Date) => {
  const later = new Date(now.getTime() + MINUTE)
  const after = (at: Date | null) => (at !== null && at <= now ? later : at)
  return { remindAt: after(remindAt), escalateAt: after(escalateAt) }
}

async function remindOrEscalate(
  tx: AlertWorkContext,
  about: FollowUp & { readonly alert: Alert; readonly recipient: AlertRecipient; readonly channel: AlertChannel },
): Promise<void> {
  const { alert, recipient, channel, channels, notifier } = about
  const now = tx.now()
  const lastedMs = now.getTime() - alert.since.getTime()
  const isDue = (at: Date | null) => at !== null && at <= now
  const { remindAfterMinutes, escalateToId } = channel
  let { remindAt, escalateAt } = recipient
  if (isDue(remindAt)) {
    notifier.notifyChannel(channel, alert, { ...itemOf(alert, 'REMINDER', now), lastedMs })
    notifier.log('ALERT_REMINDED', alert)
    remindAt = remindAfterMinutes === null ? null : new Date(now.getTime() + remindAfterMinutes * MINUTE)
  }
  if (isDue(escalateAt)) {
    escalateAt = null
    const next = channels.find(({ id }) => id === escalateToId)
    if (next) {
      notifier.notifyChannel(next, alert, { ...itemOf(alert, 'ESCALATION', now), lastedMs })
      notifier.log('ALERT_ESCALATED', alert)
    }
  }
  await setTimes(tx, recipient, { remindAt, escalateAt })
}

async function setTimes(
  { db }: Pick<Context, 'db'>,
  { alertId, channelId }: Pick<AlertRecipient, 'alertId' | 'channelId'>,
  data: Pick<AlertRecipient, 'remindAt' | 'escalateAt'>,
): Promise<void> {
  await db.alertRecipient.update({ where: { alertId_channelId: { alertId, channelId } }, data })
}

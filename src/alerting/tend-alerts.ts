import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { MINUTE } from '../core/time.ts'
import type { Alert, AlertChannel, AlertRecipient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { circumstancesOf } from './circumstances.ts'
import type { AlertWorkContext } from './context.ts'
import { itemOf } from './dispatch-alerts.ts'
import { needsAttention, nextLook, silenceOf } from './rules.ts'
import type { AlertSubject } from './subject.ts'
import { monitorSubject, readObjectiveSubjects } from './subject.ts'
import type { Telling } from './telling.ts'
import { createTelling } from './telling.ts'

/** Organizations whose alerts are tended in one run, and alerts of one in a transaction. */
const ORGANIZATIONS = 50
const BATCH = 200

/** Selects when the next alert is to be looked at, reminded of or escalated. */
export const EARLIEST_ATTENTION = Prisma.sql`
  SELECT least((SELECT min("dueAt") FROM "Alert"), (SELECT min("remindAt") FROM "AlertRecipient"),
    (SELECT min("escalateAt") FROM "AlertRecipient"))`

/**
 * Tells what was silent for a reason that is over, reminds of alerts that nobody has acknowledged, and escalates them. What a killed
 * worker had begun is rolled back, and done by the next one. Returns when the next is due; null: none is.
 */
export async function tendAlerts(ctx: AlertWorkContext): Promise<Date | null> {
  const now = ctx.now()
  const due = await ctx.db.$queryRaw<{ organizationId: string }[]>`
    SELECT "organizationId" FROM "Alert" WHERE "dueAt" <= ${now}
    UNION SELECT alert."organizationId" FROM "AlertRecipient" AS reader JOIN "Alert" AS alert ON alert.id = reader."alertId"
      WHERE reader."remindAt" <= ${now} OR reader."escalateAt" <= ${now}
    LIMIT ${ORGANIZATIONS}`
  for (const { organizationId } of due) await tendOrganization(ctx, organizationId)
  const [next] = await ctx.db.$queryRaw<{ at: Date | null }[]>`SELECT (${EARLIEST_ATTENTION}) AS at`
  return next?.at ?? null
}

/** Waits for the dispatcher of the organization, which changes alerts as well. */
async function tendOrganization(ctx: AlertWorkContext, organizationId: string): Promise<void> {
  await transaction(ctx, async (open) => {
    const tx = { ...open, seal: ctx.seal }
    await tx.db.$queryRaw`SELECT seq FROM "Dispatch" WHERE "organizationId" = ${organizationId} FOR UPDATE`
    const channels = await tx.db.alertChannel.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
    const telling = createTelling(tx, channels)
    await breakSilence(tx, organizationId, telling)
    await remind(tx, organizationId, channels, telling)
    await telling.send()
  })
}

async function breakSilence(tx: AlertWorkContext, organizationId: string, telling: Telling): Promise<void> {
  const { db, now } = tx
  const due = await db.alert.findMany({ where: { organizationId, dueAt: { lte: now() } }, take: BATCH })
  const subjects = await subjectsOf(tx, organizationId, due)
  for (const alert of due) {
    const subject = subjects.get(alert.monitorId) ?? null
    const silence = await silenceNow(tx, alert, subject)
    const data = { silence, dueAt: nextLook(silence, now()) }
    const after = await db.alert.update({ where: { id: alert.id }, data })
    if (silence !== null || subject === null) continue
    const item = itemOf(after, 'CHANGE', now())
    if (alert.endedAt === null) {
      const told = await toldAlready(tx, alert)
      const lastedMs = now().getTime() - alert.since.getTime()
      await telling.tell(after, subject, { ...item, lastedMs }, { ...soFar, told })
    } else {
      await telling.tell(
        after,
        subject,
        { ...item, change: subject.recovery, state: 'UP', since: alert.endedAt },
        soFar,
      )
    }
  }
}

/** Returns the channels that were told of an alert since it is as it is: for them, the end of a silence is no news. */
async function toldAlready({ db, now }: Pick<Context, 'db' | 'now'>, alert: Alert): Promise<Set<string>> {
  const found = await db.alertRecipient.findMany({
    where: { alertId: alert.id, count: alert.count, notifiedAt: { gte: alert.since, lte: now() } },
    select: { channelId: true },
  })
  return new Set(found.map(({ channelId }) => channelId))
}

/** Returns why an alert is still silent; null: it is told. A monitor that flapped has kept its state for long enough. */
async function silenceNow(tx: AlertWorkContext, { endedAt, count }: Alert, subject: AlertSubject | null) {
  if (endedAt !== null || subject === null) return null
  return silenceOf({ ...(await circumstancesOf(tx, subject)), count, settled: true })
}

/** Every channel that is there now. */
const soFar = { seq: Number.POSITIVE_INFINITY } as const

async function subjectsOf(
  tx: Pick<Context, 'db'>,
  organizationId: string,
  alerts: readonly Alert[],
): Promise<Map<string, AlertSubject>> {
  const ids = alerts.map(({ monitorId }) => monitorId)
  const monitors = await tx.db.monitor.findMany({ where: { organizationId, id: { in: ids } } })
  const subjects = [...monitors.map(monitorSubject), ...(await readObjectiveSubjects(tx, organizationId, ids))]
  return new Map(subjects.map((subject) => [subject.id, subject]))
}

async function remind(
  tx: AlertWorkContext,
  organizationId: string,
  channels: readonly AlertChannel[],
  telling: Telling,
): Promise<void> {
  const { db, now } = tx
  const due = await db.alertRecipient.findMany({
    where: { alert: { organizationId }, OR: [{ remindAt: { lte: now() } }, { escalateAt: { lte: now() } }] },
    include: { alert: true },
    take: BATCH,
  })
  for (const { alert, ...recipient } of due) {
    const channel = channels.find(({ id }) => id === recipient.channelId)
    if (!channel || alert.endedAt !== null || alert.acknowledgedAt !== null) {
      await setTimes(tx, recipient, { remindAt: null, escalateAt: null })
      continue
    }
    // What is silent for a while is neither reminded of nor forgotten.
    if (needsAttention(alert)) await callAttention(tx, { alert, recipient, channel, channels, telling })
    else await setTimes(tx, recipient, postponed(recipient, now()))
  }
}

const postponed = ({ remindAt, escalateAt }: AlertRecipient, now: Date) => {
  const later = new Date(now.getTime() + MINUTE)
  const after = (at: Date | null) => (at !== null && at <= now ? later : at)
  return { remindAt: after(remindAt), escalateAt: after(escalateAt) }
}

async function callAttention(
  tx: AlertWorkContext,
  about: {
    readonly alert: Alert
    readonly recipient: AlertRecipient
    readonly channel: AlertChannel
    readonly channels: readonly AlertChannel[]
    readonly telling: Telling
  },
): Promise<void> {
  const { alert, recipient, channel, channels, telling } = about
  const now = tx.now()
  const lastedMs = now.getTime() - alert.since.getTime()
  const isDue = (at: Date | null) => at !== null && at <= now
  const { remindAfterMinutes, escalateToId } = channel
  let { remindAt, escalateAt } = recipient
  if (isDue(remindAt)) {
    telling.tellChannel(channel, alert, { ...itemOf(alert, 'REMINDER', now), lastedMs })
    remindAt = remindAfterMinutes === null ? null : new Date(now.getTime() + remindAfterMinutes * MINUTE)
  }
  if (isDue(escalateAt)) {
    escalateAt = null
    const next = channels.find(({ id }) => id === escalateToId)
    if (next) telling.tellChannel(next, alert, { ...itemOf(alert, 'ESCALATION', now), lastedMs })
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

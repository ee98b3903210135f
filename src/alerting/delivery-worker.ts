import type { Quota } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Metrics } from '../core/metrics.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { SECOND } from '../core/time.ts'
import type { Agenda } from '../database/agenda.ts'
import { earliestOf } from '../database/agenda.ts'
import type { LeasedWorker } from '../database/leased-worker.ts'
import { createLeasedWorker } from '../database/leased-worker.ts'
import type { AlertChannel, AlertDelivery, Organization, PrismaClient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { createDestinationLimiter } from '../network/destination-limiter.ts'
import type { Attempt } from '../notification/attempt.ts'
import { progressAfter, readAttempts } from '../notification/attempt.ts'
import { consumeMail } from '../notification/budget.ts'
import type { SendTools } from '../notification/channel/channel.ts'
import { internalFailure } from '../notification/channel/channel.ts'
import { LEASE, SEND_DEADLINE } from '../notification/delivery-worker.ts'
import { suppressedAmong } from '../notification/suppression.ts'
import type { AlertItem } from './item.ts'
import { readItems } from './item.ts'
import { buildMessage } from './message.ts'
import type { Sent } from './send.ts'
import { sendAlert } from './send.ts'

const CONCURRENCY = 32
/** To one host, from all organizations. */
const PER_HOST = { atOnce: 4, perMinute: 600 } as const
/** The pause of a delivery whose host has enough, in milliseconds; jitter adds up to as much again. */
const POSTPONE_MS = 2 * SECOND
const pauses = { noRoom: SECOND, full: 5, partial: 0.25 * SECOND, soonest: 0.25 * SECOND, wake: 20 } as const

/** Selects the first pending delivery of each channel and thread, so that news arrives in order. */
const isFirstPending = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM "AlertDelivery" AS earlier
  WHERE earlier."channelId" = "AlertDelivery"."channelId" AND earlier.thread = "AlertDelivery".thread
    AND earlier.position < "AlertDelivery".position AND earlier.status = 'PENDING')`

type Due = AlertDelivery & {
  readonly dueAt: Date
  readonly channel: AlertChannel
  readonly organization: Organization
}

/** What to write of a delivery. */
type Progress = Pick<AlertDelivery, 'status' | 'dueAt'>

/** Creates a worker that sends alerts as the system. */
export function createAlertWorker(parts: {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly seal: SecretBox
  /** Counts mails per mailbox and organization. */
  readonly usage: Quota
  readonly tools: SendTools
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** Wakes the worker when something is due; absent: it looks every second. */
  readonly agenda?: Agenda
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}): LeasedWorker {
  const { ctx, seal, usage, tools, site, metrics, agenda, random = Math.random } = parts
  const { db, now, log } = ctx
  const hosts = createDestinationLimiter(PER_HOST)

  const worker = createLeasedWorker<Due>({
    ctx,
    table: 'AlertDelivery',
    dueColumn: 'dueAt',
    where: () => isFirstPending,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY,
    batch: CONCURRENCY,
    read: async (ids) =>
      (await db.alertDelivery.findMany({
        where: { id: { in: [...ids] }, status: 'PENDING', dueAt: { not: null } },
        include: { channel: true, organization: true },
      })) as Due[],
    accept(claims) {
      for (const { row } of claims) worker.run(row, () => deliver(row))
    },
    earliest: earliestOf('AlertDelivery', isFirstPending),
    agenda,
    onEnd: () => worker.wake(),
    pauses,
    name: { room: 'alerting', rows: 'deliveries' },
  })

  async function deliver(row: Due): Promise<boolean> {
    const [first, ...others] = readItems(row.items)
    if (first === undefined || row.organization.deletedAt !== null || (await isBlocked(row)))
      return store(row, null, { status: 'CANCELLED', dueAt: null })
    const release = hosts.tryAcquire(row.destination)
    if (release === null) return store(row, null, postponed())
    try {
      const later = await deferral(row)
      if (later !== null) return await store(row, null, { status: 'PENDING', dueAt: later })
      return await attempt(row, [first, ...others])
    } finally {
      release()
    }
  }

  async function attempt(row: Due, items: readonly [AlertItem, ...AlertItem[]]): Promise<boolean> {
    const at = now()
    const begun = performance.now()
    const { result, answer } = await send(row, items)
    if (result.kind === 'postponed') return store(row, null, postponed())
    const { kind, status } = result
    metrics.deliveries.inc({ channel: `ALERT_${row.channel.kind}`, outcome: kind })
    const message = kind === 'failed' && answer !== null ? `${result.message} ${answer}` : result.message
    const durationMs = Math.round(performance.now() - begun)
    const failed = readAttempts(row.attempts).length
    const triedSince = row.openUntil ?? row.createdAt
    const progress = progressAfter(result, { triedSince, failed }, now(), random())
    return store(row, { at, delivered: kind === 'delivered', status, message, durationMs }, progress)
  }

  async function send(row: Due, items: readonly [AlertItem, ...AlertItem[]]): Promise<Sent> {
    try {
      const { channel, organization } = row
      const message = buildMessage({ delivery: row, items, channel, organization }, seal, site.baseUrl, now())
      return await withDeadline(SEND_DEADLINE, 'Sending', sendAlert(channel.kind, message, tools))
    } catch (error) {
      log.error({ err: error, delivery: row.id }, 'alerting: could not render or send a message')
      return { result: internalFailure, answer: null }
    }
  }

  /** Only the holder of the lease records a failure; a success counts from any worker. */
  async function store(row: Due, made: Attempt | null, { status, dueAt }: Progress): Promise<boolean> {
    const attempts = JSON.stringify(made === null ? [] : [made])
    await db.$executeRaw`
      UPDATE "AlertDelivery" SET status = ${status}::"DeliveryStatus", "dueAt" = ${dueAt},
        attempts = attempts || ${attempts}::jsonb, "endedAt" = ${dueAt === null ? now() : null}
      WHERE id = ${row.id} AND status = 'PENDING' AND (${status} = 'DELIVERED' OR "dueAt" = ${row.dueAt})`
    return true
  }

  const postponed = (): Progress => ({
    status: 'PENDING',
    dueAt: new Date(now().getTime() + POSTPONE_MS * (1 + random())),
  })

  const mailboxOf = ({ channel }: Due) =>
    channel.kind === 'MAIL' ? ({ channel: 'EMAIL', text: channel.label } as const) : null

  /** Returns whether a mailbox gets no mail any more: its reader has complained, or mail bounced. */
  async function isBlocked(row: Due): Promise<boolean> {
    const mailbox = mailboxOf(row)
    if (mailbox === null) return false
    const found = await suppressedAmong({ db, seal }, row.organizationId, [mailbox])
    return found.get(mailbox.text) === 'BLOCKED'
  }

  /** Returns until when a mail waits for its quotas; null: it can be sent. A retry was counted before. */
  async function deferral(row: Due): Promise<Date | null> {
    const mailbox = mailboxOf(row)
    if (mailbox === null || readAttempts(row.attempts).length > 0) return null
    const { organizationId, organization, createdAt } = row
    const mail = {
      organizationId,
      tier: organization.tier,
      address: mailbox.text,
      createdAt,
      countsForOrganization: true,
    }
    return consumeMail({ usage, seal }, mail, now())
  }

  return worker
}

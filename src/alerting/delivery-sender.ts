import type { Quota } from '../account/quota.ts'
import { withDeadline } from '../core/concurrency/deadline.ts'
import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Metrics } from '../core/telemetry/metrics.ts'
import type { AlertChannel, AlertDelivery, Organization, PrismaClient } from '../generated/prisma/client.ts'
import type { ThirdPartyRate } from '../network/third-party-rate.ts'
import { createHostLimit } from '../network/third-party-rate.ts'
import { internalFailure } from '../notification/channel/channel.ts'
import { consumeMail } from '../notification/mail/budget.ts'
import { suppressedAmong } from '../notification/mail/suppression.ts'
import type { Attempt } from '../notification/queue/attempt.ts'
import { progressAfter, readAttempts } from '../notification/queue/attempt.ts'
import { postponedUntil } from '../notification/queue/backoff.ts'
import { SEND_DEADLINE } from '../notification/queue/lease.ts'
import { buildMessage } from './message.ts'
import { followMove } from './moved-channel.ts'
import type { Sent } from './send.ts'
import { sendAlert } from './send.ts'
import type { AlertItem } from './sender/item.ts'
import { readItems } from './sender/item.ts'
import type { AlertTools } from './sender/sender.ts'

/** The maximum number of concurrent sends to one host. */
const PER_HOST = 8

/** A due delivery, with its channel and organization. */
export type DueDelivery = AlertDelivery & {
  readonly dueAt: Date
  readonly channel: AlertChannel
  readonly organization: Organization
}

/** The columns to update after an attempt. */
type Progress = Pick<AlertDelivery, 'status' | 'dueAt'>

/** The dependencies of sending. */
export interface DeliveryParts {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly seal: SecretBox
  /** Counts emails per mailbox and organization. */
  readonly usage: Quota
  readonly tools: AlertTools
  readonly rate: ThirdPartyRate
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}

/**
 * Returns a function that tries once to send a due delivery, within the limits of its host and the quotas of its mailbox, and
 * stores the outcome: delivered, due again, failed or canceled.
 */
export function createDeliverySender(parts: DeliveryParts): (row: DueDelivery) => Promise<void> {
  const { ctx, metrics, rate, random = Math.random } = parts
  const { db, now } = ctx
  const hosts = createHostLimit(rate, PER_HOST)

  async function deliver(row: DueDelivery): Promise<void> {
    const [first, ...others] = readItems(row.items)
    if (first === undefined || row.organization.deletedAt !== null || (await isBlocked(parts, row)))
      return store(row, null, { status: 'CANCELLED', dueAt: null })
    const release = hosts.tryAcquire(row.destination, row.organizationId)
    try {
      if (release === null) return await store(row, null, postponed())
      const later = await deferralOf(parts, row)
      if (later !== null) return await store(row, null, { status: 'PENDING', dueAt: later })
      return await attempt(row, [first, ...others])
    } finally {
      release?.()
    }
  }

  async function attempt(row: DueDelivery, items: readonly [AlertItem, ...AlertItem[]]): Promise<void> {
    const at = now()
    const begun = performance.now()
    const { result, answer } = await send(parts, row, items)
    await followMove(ctx, parts.seal, row.channel, result)
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

  /** Stores an attempt. Any worker can record a success; only the holder of the lease can record a failure. */
  async function store(row: DueDelivery, made: Attempt | null, { status, dueAt }: Progress): Promise<void> {
    const attempts = JSON.stringify(made === null ? [] : [made])
    await db.$executeRaw`
      UPDATE "AlertDelivery" SET status = ${status}::"DeliveryStatus", "dueAt" = ${dueAt},
        attempts = attempts || ${attempts}::jsonb, "endedAt" = ${dueAt === null ? now() : null}
      WHERE id = ${row.id} AND status = 'PENDING' AND (${status} = 'DELIVERED' OR "dueAt" = ${row.dueAt})`
  }

  const postponed = (): Progress => ({
    status: 'PENDING',
    dueAt: postponedUntil(now(), random()),
  })

  return deliver
}

async function send(
  { ctx, seal, site, tools }: DeliveryParts,
  row: DueDelivery,
  items: readonly [AlertItem, ...AlertItem[]],
): Promise<Sent> {
  try {
    const { channel, organization } = row
    const message = buildMessage({ delivery: row, items, channel, organization }, seal, site.baseUrl, ctx.now())
    return await withDeadline(SEND_DEADLINE, 'Sending', sendAlert(channel.kind, message, tools, row.organizationId))
  } catch (error) {
    ctx.log.error({ err: error, delivery: row.id }, 'alerting: could not render or send a message')
    return { result: internalFailure, answer: null }
  }
}

const mailboxOf = ({ channel }: DueDelivery) =>
  channel.kind === 'MAIL' ? ({ channel: 'EMAIL', text: channel.label } as const) : null

/** Returns whether a mailbox gets no more email because it complained or bounced. */
async function isBlocked({ ctx: { db }, seal }: DeliveryParts, row: DueDelivery): Promise<boolean> {
  const mailbox = mailboxOf(row)
  if (mailbox === null) return false
  const found = await suppressedAmong({ db, seal }, row.organizationId, [mailbox])
  return found.get(mailbox.text) === 'BLOCKED'
}

/** Returns when the quotas allow an email to be sent, or null if it can be sent now. A retry has already been counted. */
async function deferralOf({ ctx, seal, usage }: DeliveryParts, row: DueDelivery): Promise<Date | null> {
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
  return consumeMail({ usage, seal }, mail, ctx.now())
}

import { checkDueDomains } from './account/domain-check.ts'
import { eraseDeleted } from './account/erasure.ts'
import type { UsageCounters } from './account/usage.ts'
import { forgetOldUsage } from './account/usage.ts'
import { reconcileDueInvoices } from './billing/check-plan-invoice.ts'
import { forgetOldCheckouts } from './billing/checkout.ts'
import type { BillingContext } from './billing/context.ts'
import { remindOfRenewals } from './billing/reminder-round.ts'
import type { DatabaseHandle } from './database/client.ts'
import { patiently } from './database/patience.ts'
import type { PrismaClient } from './generated/prisma/client.ts'
import { forgetOldAnswers } from './idempotency.ts'
import type { Metrics } from './metrics.ts'
import { closeDays } from './monitoring/day.ts'
import { forgetOld } from './monitoring/retention.ts'
import type { DnsClient } from './network/dns/client.ts'
import type { Outbound } from './network/outbound.ts'
import { createMailer } from './notification/channel/mailer.ts'
import { forgetOldDeliveries } from './notification/delivery.ts'
import { suppressStopped } from './notification/suppression.ts'
import { startNotifying } from './notification/worker.ts'
import { renderStored } from './rendering.ts'
import type { LoopState } from './repeat.ts'
import { repeat } from './repeat.ts'
import type { Seal } from './seal.ts'
import { runDueMaintenance } from './status/maintenance-round.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time.ts'

/** The longest time from one look for work that is due to the next: how late work may be that came up meanwhile. */
const ROUND = 5 * SECOND

/** So that work which cannot be taken for a moment is not asked for without a pause. */
const SHORTEST_PAUSE = 0.1 * SECOND

/** How soon after a day is over, somewhere, it is closed at the latest. */
const DAY_CLOSES_WITHIN = 15 * MINUTE

/** What is done with nobody connected, running. */
export interface Background {
  /** How delivering to subscribers does. */
  delivering(): LoopState
}

/** How long a turn may take: batches wait for each other, and what is asked elsewhere takes its time. */
const LONGEST_TURN = 15 * MINUTE

/**
 * Starts the work that is done with nobody connected, beside probing: maintenance, notifications, billing, and forgetting.
 * A process that only serves has none of it.
 * @param started is told how to end each part.
 * @throws when the database cannot be asked to listen. @throws StartError when `MAIL_FROM` is no mail address.
 */
export async function startBackground(
  parts: {
    /** The system's. */
    readonly ctx: BillingContext & { readonly db: PrismaClient }
    readonly database: DatabaseHandle
    readonly seal: Seal
    readonly usage: UsageCounters
    readonly outbound: Outbound
    readonly dns: DnsClient
    readonly metrics: Metrics
  },
  started: (() => Promise<void> | void)[],
): Promise<Background> {
  const { ctx, database, seal, usage, outbound, dns, metrics } = parts
  const { now, site } = ctx
  const mailer = createMailer(ctx.config, site)
  started.push(() => mailer?.close())
  const notifying = await startNotifying({
    ctx,
    database,
    seal,
    usage,
    tools: { outbound, mailer, now },
    site,
    metrics,
  })
  started.push(function notifications() {
    return notifying.close()
  })

  /** What fails is done again after `retry` milliseconds. */
  const repeated = (work: () => Promise<number>, retry: number) => {
    const failed = 'background: repeated work failed'
    const repetition = repeat(work, { retry, patience: LONGEST_TURN, log: ctx.log, failed })
    started.push(function repeatedWork() {
      return repetition.stop()
    })
  }
  /** Does a round of work again when the time has come that it gives, and at least every `ROUND`. */
  const repeatedWhenDue = (work: () => Promise<Date | null>) =>
    repeated(async () => {
      const next = await work()
      return next ? Math.min(Math.max(next.getTime() - now().getTime(), SHORTEST_PAUSE), ROUND) : ROUND
    }, ROUND)

  repeatedWhenDue(() => runDueMaintenance(ctx))
  repeatedWhenDue(() => checkDueDomains(ctx, { dns, outbound }))
  if (ctx.billing.btcpay) {
    repeatedWhenDue(() => reconcileDueInvoices(ctx))
    if (mailer) repeatedWhenDue(() => remindOfRenewals(ctx, mailer))
  }
  // In batches, so that others get their turn.
  repeated(async () => ((await closeDays(ctx)) ? SECOND : DAY_CLOSES_WITHIN), DAY_CLOSES_WITHIN)
  repeated(async () => ((await patiently(ctx, forgetOld)) ? SHORTEST_PAUSE : HOUR), HOUR)
  repeated(async () => ((await patiently(ctx, forgetOldDeliveries)) ? SHORTEST_PAUSE : HOUR), HOUR)
  repeated(async () => ((await eraseDeleted(ctx)) ? SHORTEST_PAUSE : MINUTE), MINUTE)
  repeated(async () => ((await renderStored(ctx)) ? SHORTEST_PAUSE : ROUND), MINUTE)
  repeated(async () => ((await patiently(ctx, forgetOldAnswers)) ? SHORTEST_PAUSE : HOUR), HOUR)
  repeated(() => suppressStopped({ ...ctx, seal }).then(() => DAY), HOUR)
  repeated(() => patiently(ctx, forgetOldUsage).then(() => DAY), DAY)
  repeated(() => patiently(ctx, forgetOldCheckouts).then(() => DAY), DAY)
  return { delivering: notifying.state }
}

import type { Logger } from 'pino'
import { checkDueDomains } from '../account/custom-domain/custom-domain-check.ts'
import { notDeleted } from '../account/not-deleted.ts'
import { eraseDeleted } from '../account/organization/erasure.ts'
import { EARLIEST_REMINDER } from '../account/organization/plan.ts'
import type { Quota } from '../account/quota.ts'
import { deleteOldUsage } from '../account/quota.ts'
import { alertDeliveries } from '../alerting/alert-deliveries.ts'
import { createDefaultPushChannels, WITHOUT_PUSH_CHANNEL } from '../alerting/default-push-channel.ts'
import { dispatchAlerts } from '../alerting/dispatch-alerts.ts'
import { EARLIEST_FOLLOW_UP, followUpAlerts } from '../alerting/follow-up.ts'
import { deleteOldAlerts } from '../alerting/retention.ts'
import type { ScheduledBackups } from '../backup/schedule.ts'
import { reconcileDueInvoices } from '../billing/check-plan/check-plan-invoice.ts'
import { sendDueReminders } from '../billing/check-plan/reminder-job.ts'
import type { BillingContext } from '../billing/context.ts'
import { deleteOldPayloads } from '../billing/retention.ts'
import { deleteOldCheckouts } from '../billing/subscription/checkout.ts'
import type { MountedFile } from '../configuration/mounted-file.ts'
import type { LoopState, PollLoop } from '../core/concurrency/poll-loop.ts'
import { startPollLoop } from '../core/concurrency/poll-loop.ts'
import type { Config } from '../core/config.ts'
import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { deleteExpiredAnswers } from '../core/idempotency.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Metrics } from '../core/telemetry/metrics.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { withLongDeadline } from '../database/connection/statement-deadline.ts'
import type { Agenda } from '../database/lease/agenda.ts'
import { dueIfAny, earliestOf, IDLE_MS } from '../database/lease/agenda.ts'
import { createEventRetention } from '../event-log/retention.ts'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'
import { INCOMING_NOTIFICATION } from '../integration/receive.ts'
import { deleteOldBodies } from '../integration/retention.ts'
import { createIncomingWorker } from '../integration/worker.ts'
import { runDueObjectives } from '../monitoring/objective/objective-job.ts'
import { deleteExpired } from '../monitoring/result/retention.ts'
import { closeDays } from '../monitoring/uptime/uptime-days.ts'
import type { DnsClient } from '../network/dns/client.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import type { ThirdPartyRate } from '../network/third-party-rate.ts'
import type { Mailer } from '../notification/channel/mailer.ts'
import { deleteOldDeliveries } from '../notification/delivery/delivery.ts'
import type { Notifier } from '../notification/delivery/notifier.ts'
import { startNotifier } from '../notification/delivery/notifier.ts'
import { subscriberDeliveries } from '../notification/delivery/subscriber-deliveries.ts'
import { suppressStopped } from '../notification/mail/suppression.ts'
import { createMemberPush } from '../notification/push/member-push.ts'
import { pushDeliveries } from '../notification/push/push-deliveries.ts'
import { deleteExpired as deleteExpiredTokens } from '../people/one-time-token.ts'
import { runDueMaintenance } from '../status/maintenance/maintenance-job.ts'
import { runDueSeries } from '../status/maintenance/maintenance-series.ts'
import { renderStored, UNRENDERED } from '../status/timeline/stored-messages.ts'
import { createReports } from '../status-page/report-job.ts'
import { watchClock } from './clock-set-back.ts'
import type { Closers } from './stop.ts'

/** The pause after work that failed. */
const RETRY_INTERVAL = 5 * SECOND

/** The minimum pause, so that work which cannot be claimed for a moment is not polled continuously. */
const MIN_PAUSE = 0.1 * SECOND

/** The maximum delay between the end of a day in some time zone and its closing. */
const CLOSE_DAYS_INTERVAL = 15 * MINUTE

/** The running background jobs. */
export interface Background {
  /** The worse state of the deliveries to subscribers and of alerts. */
  deliveryState(): LoopState
  /** Looks for due deliveries now, so that `deliveryState` is current. */
  check(): Promise<void>
}

/** The pause after a backup that failed, and the time limit of one. */
const BACKUP_RETRY = 10 * MINUTE
const BACKUP_TIMEOUT = 12 * HOUR

type Deleting = Pick<Context, 'db' | 'now'>

/**
 * Counts the rows that a job deletes, and logs them when nothing is left to delete.
 * @returns a function that runs a batch, which returns whether there may be more, and returns the pause until the next
 * batch.
 */
function countedRun(metrics: Pick<Metrics, 'deletedRows'>, log: Logger) {
  let deleted: Record<string, number> = {}
  const count: CountDeleted = (table, rows) => {
    if (rows === 0) return
    deleted[table] = (deleted[table] ?? 0) + rows
    metrics.deletedRows.inc({ table }, rows)
  }
  return async (deleteBatch: (count: CountDeleted) => Promise<boolean>): Promise<number> => {
    if (await deleteBatch(count)) return MIN_PAUSE
    if (Object.keys(deleted).length > 0) log.info({ rows: deleted }, 'retention: deleted old data')
    deleted = {}
    return HOUR
  }
}

/** The time limit of a run: batches wait for each other, and external systems are slow. */
const RUN_TIMEOUT = 15 * MINUTE

/** The dependencies of the background jobs. */
interface Dependencies {
  /** The system's context. */
  readonly ctx: BillingContext & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: SecretBox
  readonly usage: Quota
  readonly rate: ThirdPartyRate
  readonly outbound: Outbound
  readonly dns: DnsClient
  /** Null: email is not set up. */
  readonly mailer: Mailer | null
  readonly metrics: Metrics
  readonly agenda: Agenda
  /** Null: none are made. */
  readonly backups: ScheduledBackups | null
  /** Null: none is applied. */
  readonly configurationFile: MountedFile | null
  /** How many days data is kept. */
  readonly retention: Pick<Config, 'EVENT_RETENTION_DAYS' | 'PAYMENT_PAYLOAD_DAYS'>
}

/**
 * Starts the background jobs other than probing: maintenance, notifications, billing, clean-up. Only workers run them.
 * @param closers receives functions that stop each job.
 * @throws when `LISTEN` fails.
 */
export async function startBackground(dependencies: Dependencies, closers: Closers): Promise<Background> {
  const { ctx, seal, backups, configurationFile } = dependencies
  // Runs before events are dispatched, so that browsers with notifications from an earlier version miss none.
  while (await createDefaultPushChannels({ ...ctx, seal })) {}
  const notifier = await startDelivering(dependencies, closers)
  await startReceiving(dependencies, closers)
  const repeating = createRepeating(dependencies, closers)
  repeating.repeat(() => watchClock(ctx), RETRY_INTERVAL)
  startJobs(dependencies, repeating, closers)
  startRetention(dependencies, repeating)
  if (backups) startBackups(backups, ctx.log, closers)
  if (configurationFile) repeating.repeat(() => configurationFile.run(), MINUTE)
  return {
    deliveryState: notifier.state,
    check: notifier.check,
  }
}

/** Starts to send notifications to subscribers and browsers, and alerts to the team. */
async function startDelivering(
  { ctx, database, seal, usage, rate, outbound, mailer, metrics, agenda }: Dependencies,
  closers: Closers,
): Promise<Notifier> {
  const { now, site, config } = ctx
  const { pool } = database
  const tools = { outbound, mailer, now }
  const push = createMemberPush({ db: ctx.db, seal, now, config, site })
  const notifier = await startNotifier({
    ...{ ctx, database, pool, seal, usage, rate, metrics, agenda },
    kinds: [
      subscriberDeliveries({ ctx: { ...ctx, seal }, pool, tools, site }),
      pushDeliveries({ ctx, pool, tools: { outbound, now, seal, config, site } }),
      alertDeliveries({ ctx, pool, seal, tools: { ...tools, push }, site }),
    ],
    handleEvents: (tx, organizationId, events) => dispatchAlerts({ ...tx, seal }, organizationId, events),
  })
  closers.push(function notifications() {
    return notifier.close()
  })
  return notifier
}

/** Starts to read the messages of integrations. */
async function startReceiving(
  { ctx, database, seal, outbound, agenda }: Dependencies,
  closers: Closers,
): Promise<void> {
  const incoming = createIncomingWorker({ ctx, seal, outbound, agenda })
  const unlistenIncoming = await database.listen(INCOMING_NOTIFICATION, incoming.wake)
  incoming.start()
  closers.push(async function incomingAlerts() {
    await unlistenIncoming()
    await incoming.close()
  })
}

/** Starts repeated work. */
interface Repeating {
  /** Repeats work after the milliseconds that it returns, or after `retry` when it fails. Returns the loop. */
  repeat(work: () => Promise<number>, retry: number): PollLoop
  /** Repeats work at the time that it returns, and when the agenda finds that something is due earlier. */
  repeatWhenDue(earliest: Prisma.Sql, work: () => Promise<Date | null>): void
}

function createRepeating({ ctx, agenda }: Dependencies, closers: Closers): Repeating {
  const repeat = (work: () => Promise<number>, retry: number) => {
    const failed = 'background: a job failed'
    const loop = startPollLoop(work, {
      retryMs: retry,
      timeoutMs: RUN_TIMEOUT,
      log: ctx.log,
      failureMessage: failed,
    })
    closers.push(function repeatedWork() {
      return loop.stop()
    })
    return loop
  }
  const repeatWhenDue = (earliest: Prisma.Sql, work: () => Promise<Date | null>) => {
    const loop = repeat(async () => {
      const next = await work()
      return next ? Math.min(Math.max(next.getTime() - ctx.now().getTime(), MIN_PAUSE), IDLE_MS) : IDLE_MS
    }, RETRY_INTERVAL)
    closers.push(agenda.add(earliest, loop.wake))
  }
  return { repeat, repeatWhenDue }
}

/** Starts the jobs of maintenance, alerts, objectives, domains, billing and uptime. */
function startJobs(
  { ctx, seal, dns, outbound, mailer, agenda }: Dependencies,
  { repeat, repeatWhenDue }: Repeating,
  closers: Closers,
): void {
  repeatWhenDue(earliestOf('Maintenance', notDeleted), () => runDueMaintenance(ctx))
  repeatWhenDue(EARLIEST_FOLLOW_UP, () => followUpAlerts({ ...ctx, seal }))
  repeatWhenDue(earliestOf('MaintenanceSeries', notDeleted), () => runDueSeries(ctx))
  repeatWhenDue(earliestOf('Objective', notDeleted), () => runDueObjectives(ctx))
  repeatWhenDue(earliestOf('CustomDomain', notDeleted), () => checkDueDomains(ctx, { dns, outbound }))
  if (ctx.billing.btcpay) {
    repeatWhenDue(earliestOf('CheckPlanInvoice'), () => reconcileDueInvoices(ctx))
    if (mailer) repeatWhenDue(EARLIEST_REMINDER, () => sendDueReminders(ctx, mailer))
  }
  repeat(async () => ((await createReports(ctx)) ? MIN_PAUSE : CLOSE_DAYS_INTERVAL), CLOSE_DAYS_INTERVAL)
  // In batches, so that other work is not delayed.
  repeat(async () => ((await closeDays(ctx)) ? SECOND : CLOSE_DAYS_INTERVAL), CLOSE_DAYS_INTERVAL)
  repeat(async () => ((await eraseDeleted(ctx)) ? MIN_PAUSE : MINUTE), MINUTE)
  const offering = repeat(async () => ((await createDefaultPushChannels({ ...ctx, seal })) ? MIN_PAUSE : HOUR), MINUTE)
  closers.push(agenda.add(dueIfAny(WITHOUT_PUSH_CHANNEL), offering.wake))
  const rendering = repeat(async () => ((await renderStored(ctx)) ? MIN_PAUSE : HOUR), MINUTE)
  closers.push(agenda.add(dueIfAny(UNRENDERED), rendering.wake))
  repeat(() => suppressStopped({ ...ctx, seal }).then(() => DAY), HOUR)
}

/** Starts the jobs that delete old data. */
function startRetention({ ctx, metrics, retention }: Dependencies, { repeat }: Repeating): void {
  const events = createEventRetention(retention.EVENT_RETENTION_DAYS)
  for (const deleteBatch of [
    deleteExpired,
    deleteOldDeliveries,
    deleteOldAlerts,
    deleteOldBodies,
    deleteExpiredAnswers,
    deleteExpiredTokens,
    deleteOldUsage,
    deleteOldCheckouts,
    events.deleteBatch,
    (own: Deleting, count: CountDeleted) => deleteOldPayloads(own, retention.PAYMENT_PAYLOAD_DAYS, count),
  ]) {
    const run = countedRun(metrics, ctx.log)
    repeat(() => run((count) => withLongDeadline(ctx, (own) => deleteBatch(own, count))), HOUR)
  }
}

function startBackups(backups: ScheduledBackups, log: Logger, closers: Closers): void {
  if (!backups.isEncrypted)
    log.warn(
      'backup: BACKUP_DIR gets unencrypted backups with all data; set ALLCLEAR_BACKUP_PASSPHRASE to encrypt them',
    )
  const making = startPollLoop(() => backups.run(), {
    retryMs: BACKUP_RETRY,
    timeoutMs: BACKUP_TIMEOUT,
    log,
    failureMessage: 'backup: failed; retrying in ten minutes',
  })
  closers.push(function backup() {
    return making.stop()
  })
}

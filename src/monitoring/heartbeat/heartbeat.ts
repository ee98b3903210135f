import type pg from 'pg'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { ofLiveOrganization, withTier } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import { NotFound, Unavailable } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { randomText } from '../../core/id.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { Monitor, Prisma, Watch } from '../../generated/prisma/client.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import type { ResultWriter } from '../result/result-writer.ts'
import { durationInWords } from '../uptime/duration.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import { readWatches } from '../watch/due-watch.ts'
import { heartbeatDue, runDueAt } from '../watch/heartbeat-due.ts'
import type { Received, Reception } from '../watch/reception.ts'
import { scheduleOf } from '../watch/staleness.ts'
import { endRun, isRecent, openRuns, startRun } from './runs.ts'

/** The path under which jobs report (contract §6). */
export const HEARTBEAT_PATH = '/api/v1/heartbeats'

/** A job's report about its run, as in the "Pinging API" of healthchecks.io. */
export type Signal =
  | ({ readonly kind: 'success' } & Measured)
  /** The job has started. Its duration is measured, and limited if the monitor has a time limit. */
  | { readonly kind: 'start' }
  /** @property exitCode the exit code; null: the job reported none. */
  | ({ readonly kind: 'failure'; readonly exitCode: number | null } & Measured)
  /** Only output. It says nothing about the job. */
  | { readonly kind: 'log' }

/** What a job has measured itself. */
interface Measured {
  /** In milliseconds; absent: nothing. */
  readonly latencyMs?: number
}

/** A job's signal, and what else its request says. */
export interface Message {
  readonly signal: Signal
  /** The UUID of the run, as `parseRunId` returns it; null: the job does not tell its runs apart. */
  readonly runId: string | null
  /** The output of the job. Its first line is kept, up to 200 characters. */
  readonly text: string
}

/** A signal that ends a run. */
type Report = Exclude<Signal, { readonly kind: 'start' | 'log' }>

/** The dependencies of recording heartbeats. */
export interface HeartbeatParts {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly resultWriter: Pick<ResultWriter, 'record'>
  readonly reception: Pick<Reception, 'noteRefusal'>
}

export type HeartbeatContext = Context & HeartbeatParts

/** The number of characters of a token, which is 160 random bits. */
const TOKEN_LENGTH = 32
const TOKEN = /^[0-9a-v]{32}$/
const MAX_TEXT_LENGTH = 200
const MAX_ATTEMPTS = 5
/** The largest latency that the database can store, in milliseconds. */
const MAX_DURATION_MS = 0x7fff_ffff

/** Creates a token, which authorizes a job's reports. */
export function newToken(): string {
  return randomText(TOKEN_LENGTH)
}

/**
 * Records a job's signal. Accepts and ignores it while the monitor is paused.
 * @throws NotFound when no monitor has the token, and Unavailable when the result cannot be stored.
 */
export async function recordSignal(ctx: HeartbeatContext, token: string, message: Message): Promise<void> {
  try {
    await acceptSignal(ctx, token, message)
  } catch (error) {
    // What a job does wrong, or does too often at once, must not excuse other jobs.
    if (!(error instanceof NotFound || error instanceof Contended)) ctx.reception.noteRefusal()
    throw error
  }
}

/** Signals of one job changed its watch at the same time, again and again. */
class Contended extends Unavailable {}

async function acceptSignal(ctx: HeartbeatContext, token: string, message: Message): Promise<void> {
  const { signal, runId, text } = message
  const monitor = TOKEN.test(token)
    ? await ctx.db.monitor.findUnique({
        where: { heartbeatHash: hashSecret(token), ...ofLiveOrganization },
        include: { watches: true, ...withTier },
      })
    : null
  if (monitor === null) throw new NotFound('No heartbeat has this token.')
  const [watch] = monitor.watches
  if (watch === undefined || signal.kind === 'log') return
  const now = ctx.now()
  const schedule = scheduleOf(monitor, monitor.organization.tier)
  if (signal.kind === 'start') return startRun(ctx, watch.id, runId, schedule)
  // If the process dies between the two writes, the job gets no response, and sends its report again.
  const startedAt = watch.startedAt && (await endRun(ctx, watch.id, runId))
  const result = resultOf(startedAt, signal, text, now)
  if (startedAt === null && watch.lastOutcome === result.outcome && isRecent(watch.lastProbedAt, now)) return
  if (watch.dueAt === null) {
    const dueAt = heartbeatDue(schedule, { reportedAt: now, runs: [] })
    await ctx.db.watch.updateMany({ where: { id: watch.id, dueAt: null }, data: { dueAt } })
  }
  await record(ctx, watch.id, result, now)
}

/** Records a heartbeat. If its watch changes concurrently, reads the watch again and retries. */
async function record(
  { pool, resultWriter, log }: HeartbeatContext,
  id: string,
  result: ProbeResult,
  at: Date,
): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const [watch] = await readWatches(pool, [id])
    // The monitor was paused, or another request recorded the heartbeat.
    if (watch === undefined || (attempt > 1 && isRecorded(watch, result, at))) return
    if (await resultWriter.record(watch, { at, result })) return
  }
  log.warn({ watch: id }, 'monitoring: could not record a heartbeat')
  throw new Contended('The heartbeat could not be recorded. Send it again.')
}

function isRecorded({ memory }: DueWatch, { outcome }: ProbeResult, at: Date): boolean {
  const [last, time = 0] = memory.recent.at(-1) ?? []
  return last === outcome && isRecent(new Date(time), at)
}

/** @param startedAt when the run started that the report ends; null: this is not known. */
function resultOf(startedAt: Date | null, signal: Report, text: string, now: Date): ProbeResult {
  const line = firstLine(text)
  const durationMs = startedAt === null ? (signal.latencyMs ?? null) : now.getTime() - startedAt.getTime()
  return probeResult(signal.kind === 'success' ? 'UP' : 'DOWN', messageOf(signal), {
    latencyMs: durationMs !== null && durationMs >= 0 && durationMs <= MAX_DURATION_MS ? durationMs : null,
    detail: line === '' ? null : { output: line },
  })
}

function messageOf(signal: Report): string {
  if (signal.kind !== 'failure') return 'The job reported success.'
  const { exitCode } = signal
  return exitCode === null ? 'The job reported failure.' : `The job ended with exit code ${exitCode}.`
}

/** Returns the first line that is not blank, without control characters. */
function firstLine(text: string): string {
  const line = text.split(/[\r\n]+/).find((each) => each.trim() !== '') ?? ''
  const plain = line.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ').trim()
  return [...plain].slice(0, MAX_TEXT_LENGTH).join('')
}

/**
 * The delay of a worker, in milliseconds, above which the service may not have been running when a heartbeat was sent.
 * Only counts while no instance has recorded that it received heartbeats, as after an upgrade.
 */
const MAX_LATENESS_MS = MINUTE

/**
 * Returns the result of a heartbeat that is overdue or whose run exceeds its limit: DOWN. If the heartbeat may have come
 * while no instance received it, or one refused it, returns UNKNOWN, which gives the job another interval.
 * @param dueAt when the heartbeat became overdue.
 * @param received whether all heartbeats were received from `expectedFrom` on.
 */
export function missedHeartbeat(
  { memory, schedule, runs }: Pick<DueWatch, 'memory' | 'schedule' | 'runs'>,
  dueAt: Date,
  now: Date,
  received: Received = 'unrecorded',
): ProbeResult {
  if (received === 'unrecorded' && now.getTime() - dueAt.getTime() > MAX_LATENESS_MS)
    return probeResult('UNKNOWN', 'We were not running when the heartbeat was due.')
  if (received === 'perhaps not all')
    return probeResult('UNKNOWN', 'We could not receive heartbeats for a while when this one was expected.')
  const startedAt = runDueAt(schedule, dueAt, runs)
  if (startedAt) {
    const limit = durationInWords(Number(schedule.maxRunSeconds) * SECOND)
    return probeResult('DOWN', `The job started at ${formatTime(Number(startedAt))} and has not ended within ${limit}.`)
  }
  const success = memory.recent.findLast(([outcome]) => outcome === 'UP')
  return probeResult('DOWN', success ? `No successful heartbeat since ${formatTime(success[1])}.` : 'No heartbeat.')
}

/** Formats a time as `2026-11-20 12:00:00 UTC`. */
const formatTime = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/**
 * Returns when a new watch is first due: now, or for a heartbeat after its interval; null: it is a heartbeat that has
 * never reported, so its job may not be set up yet.
 */
export async function firstDue(ctx: Context, monitor: Monitor): Promise<Date | null> {
  if (monitor.kind !== 'HEARTBEAT') return ctx.now()
  const where = { monitorId: monitor.id, state: { in: ['UP', 'DOWN'] } } satisfies Prisma.MonitorIntervalWhereInput
  return (await ctx.db.monitorInterval.count({ where })) === 0 ? null : heartbeatLateAt(ctx, monitor, ctx.now())
}

/** Returns when a job becomes late whose last report was at `last`. */
export async function heartbeatLateAt({ db }: Pick<Context, 'db'>, monitor: Monitor, last: Date): Promise<Date> {
  const { tier } = await readOrganization({ db }, monitor.organizationId)
  return heartbeatDue(scheduleOf(monitor, tier), { reportedAt: last, runs: [] })
}

/**
 * Returns when a job becomes late after its settings have changed: now, if it is already late by the new settings. A
 * new cron schedule applies from now on, because the job did not follow it before.
 */
export async function heartbeatDueAfterEdit(
  { db, now }: Pick<Context, 'db' | 'now'>,
  monitor: Monitor,
  { id, lastKnownAt, startedAt }: Pick<Watch, 'id' | 'lastKnownAt' | 'startedAt'>,
): Promise<Date> {
  const { tier } = await readOrganization({ db }, monitor.organizationId)
  const schedule = scheduleOf(monitor, tier)
  const at = now()
  const runs = (await openRuns(db, id, startedAt)).map((run) => run.startedAt)
  const due = heartbeatDue(schedule, { reportedAt: lastKnownAt ?? at, runs })
  if (due >= at) return due
  return schedule.cron ? heartbeatDue(schedule, { reportedAt: at, runs: [] }) : at
}

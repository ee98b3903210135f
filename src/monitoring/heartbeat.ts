import type pg from 'pg'
import { hashSecret } from '../account/secret.ts'
import type { Context } from '../context.ts'
import { NotFound, Unavailable } from '../errors.ts'
import type { Monitor, Prisma, Watch } from '../generated/prisma/client.ts'
import { randomText } from '../id.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { DueWatch } from './due-watch.ts'
import { readWatches } from './due-watch.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'
import type { Recorder } from './recorder.ts'
import { rhythmOf, vouchedMs } from './vouching.ts'

/** What a watched job says of its run, as at healthchecks.io (its "Pinging API"). */
export type Signal =
  | { readonly kind: 'success' }
  /** It has begun: only the time until its end is measured by that, for what has begun may never end. */
  | { readonly kind: 'start' }
  /** @property exitCode null: it did not say. */
  | { readonly kind: 'failure'; readonly exitCode: number | null }

/** What it takes to record heartbeats. */
export interface BeatParts {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly recorder: Pick<Recorder, 'record'>
}

export type BeatContext = Context & BeatParts

/** 160 random bits. */
const TOKEN_LENGTH = 32
const TOKEN = /^[0-9a-v]{32}$/
/** Signals that come sooner and say nothing new are accepted and forgotten. */
const SOONEST = SECOND
const LONGEST_SAID = 200
const ATTEMPTS = 5
/** As long as a latency in milliseconds can be kept. */
const LONGEST_RUN = 0x7fff_ffff

/** A new token: who knows it can report for the job. */
export function newToken(): string {
  return randomText(TOKEN_LENGTH)
}

/**
 * Takes what a job says of its run. While the monitor is paused it is accepted, and changes nothing.
 * @param said what the job sent with it; its first line is kept, as far as 200 characters.
 * @throws NotFound when no monitor has the token.
 */
export async function takeSignal(ctx: BeatContext, token: string, signal: Signal, said: string): Promise<void> {
  const monitor = TOKEN.test(token)
    ? await ctx.db.monitor.findUnique({
        where: { heartbeatHash: hashSecret(token), organization: { deletedAt: null } },
        include: { watches: true, organization: { select: { tier: true } } },
      })
    : null
  if (monitor === null) throw new NotFound('There is no such heartbeat.')
  const [watch] = monitor.watches
  if (watch === undefined) return
  const now = ctx.now()
  if (signal.kind === 'start') return begin(ctx, watch, now)
  const finding = findingOf(watch, signal, said, now)
  if (watch.lastOutcome === finding.outcome && isJust(watch.lastCheckedAt, now)) return
  if (watch.dueAt === null) {
    const dueAt = new Date(now.getTime() + vouchedMs(rhythmOf(monitor, monitor.organization.tier)))
    await ctx.db.watch.updateMany({ where: { id: watch.id, dueAt: null }, data: { dueAt } })
  }
  await record(ctx, watch.id, finding, now)
  if (watch.startedAt !== null) await ctx.db.watch.updateMany({ where: { id: watch.id }, data: { startedAt: null } })
}

/** Records a beat also when something else happens to its watch at the same time: then it is read and judged anew. */
async function record({ pool, recorder, log }: BeatContext, id: string, finding: Finding, at: Date): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const [watch] = await readWatches(pool, [id])
    // Paused meanwhile, or the same was said at the same time.
    if (watch === undefined || (attempt > 1 && isTold(watch, finding, at))) return
    if (await recorder.record(watch, { at, finding })) return
  }
  log.warn({ watch: id }, 'monitoring: a heartbeat could not be recorded')
  throw new Unavailable('The heartbeat could not be recorded. Send it again.')
}

function isTold({ memory }: DueWatch, { outcome }: Finding, at: Date): boolean {
  const [last, time = 0] = memory.recent.at(-1) ?? []
  return last === outcome && isJust(new Date(time), at)
}

async function begin({ db }: Context, watch: Watch, now: Date): Promise<void> {
  if (isJust(watch.startedAt, now)) return
  await db.watch.updateMany({ where: { id: watch.id }, data: { startedAt: now } })
}

/** Whether a time lies so shortly before now, or after it by a clock that was set back. */
function isJust(time: Date | null, now: Date): boolean {
  return time !== null && Math.abs(now.getTime() - time.getTime()) < SOONEST
}

function findingOf({ startedAt }: Watch, signal: Signal, said: string, now: Date): Finding {
  const line = firstLine(said)
  const lasted = startedAt === null ? null : now.getTime() - startedAt.getTime()
  return found(signal.kind === 'success' ? 'UP' : 'DOWN', messageOf(signal), {
    latencyMs: lasted !== null && lasted >= 0 && lasted <= LONGEST_RUN ? lasted : null,
    detail: line === '' ? null : { said: line },
  })
}

function messageOf(signal: Signal): string {
  if (signal.kind !== 'failure') return 'The job reported success.'
  const { exitCode } = signal
  return exitCode === null ? 'The job reported failure.' : `The job ended with exit code ${exitCode}.`
}

/** The first line that is not blank, as plain text. */
function firstLine(said: string): string {
  const line = said.split(/[\r\n]+/).find((each) => each.trim() !== '') ?? ''
  const plain = line.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ').trim()
  return [...plain].slice(0, LONGEST_SAID).join('')
}

/** Who is as late as that was not listening either, when a heartbeat might have come. */
const NOT_LISTENING = MINUTE

/**
 * What it means that a heartbeat has become due, which is when it is late: the job is down. Unknown when nobody looked at
 * the time, for then we were away and the heartbeat may have come in vain: it is given another interval.
 * @param dueAt when it became due.
 */
export function missed({ memory }: Pick<DueWatch, 'memory'>, dueAt: Date, now: Date): Finding {
  if (now.getTime() - dueAt.getTime() > NOT_LISTENING) return found('UNKNOWN', 'We were not there to hear a heartbeat.')
  const success = memory.recent.findLast(([outcome]) => outcome === 'UP')
  return found('DOWN', success ? `No successful heartbeat since ${momentInWords(success[1])}.` : 'No heartbeat.')
}

/** Such as `2026-11-20 12:00:00 UTC`. */
const momentInWords = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/**
 * When a monitor that begins to be watched is first due: at once, but a job that is to report gets its interval, and (null)
 * all the time it needs before its first report, for it may not be set up yet.
 */
export async function firstDue(ctx: Context, monitor: Monitor): Promise<Date | null> {
  if (monitor.kind !== 'HEARTBEAT') return ctx.now()
  const where = { monitorId: monitor.id, state: { in: ['UP', 'DOWN'] } } satisfies Prisma.MonitorIntervalWhereInput
  return (await ctx.db.monitorInterval.count({ where })) === 0 ? null : lateAt(ctx, monitor, ctx.now())
}

/** When the job of a heartbeat is late that has reported at a moment. */
export async function lateAt({ db }: Pick<Context, 'db'>, monitor: Monitor, last: Date): Promise<Date> {
  const { tier } = await db.organization.findUniqueOrThrow({ where: { id: monitor.organizationId } })
  return new Date(last.getTime() + vouchedMs(rhythmOf(monitor, tier)))
}

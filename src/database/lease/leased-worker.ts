import { fairShare } from '../../core/concurrency/fair-share.ts'
import type { LoopState, PollLoop } from '../../core/concurrency/poll-loop.ts'
import { startPollLoop } from '../../core/concurrency/poll-loop.ts'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Agenda } from './agenda.ts'
import { IDLE_MS } from './agenda.ts'
import type { FairLease } from './fair-claim.ts'
import { createFairClaim } from './fair-claim.ts'
import type { LeaseOptions } from './lease.ts'
import { claimDue, earliestFirst, releaseClaims } from './lease.ts'

/** A row to work on. While its due time is the one set by the claim, no other worker has claimed or changed it. */
interface LeasedRow {
  readonly id: string
  readonly dueAt: Date
}

/** A row that this worker has claimed. */
export interface Claim<Row> {
  readonly row: Row
  /** When it was due. */
  readonly dueAt: Date
}

/** Claims due rows, works on them, and releases those that it does not finish. */
export interface LeasedWorker {
  /** Claims due rows once and starts the work on them. Returns the milliseconds until the next poll. */
  poll(): Promise<number>
  /** Polls until it is closed. */
  start(): void
  /** Polls at once. */
  wake(): void
  state(): LoopState
  /** Polls now, so that `state` is current (`PollLoop`). */
  check(): Promise<void>
  /** Resolves once all running work has ended. */
  idle(): Promise<void>
  /**
   * Stops claiming, releases rows that have not started, waits for the others, and releases those that did not finish.
   */
  close(): Promise<void>
}

/** A leased worker, with the functions that the implementation of its work needs. */
export interface LeasedWork<Row> extends LeasedWorker {
  /** The number of rows that the worker is working on. */
  readonly running: number
  /** Whether `close` was called. */
  readonly isClosing: boolean
  /** Works on a claimed row. `work` resolves to false if it stopped early; `close` then releases the row. */
  run(row: Row, work: () => Promise<boolean>): void
  /** Makes claimed rows due again. */
  release(rows: readonly Row[]): Promise<void>
}

/** Claims rows that satisfy a condition, and then reads them. */
interface ClaimThenRead<Row> {
  /** The condition on the rows to claim now. */
  readonly where: () => Prisma.Sql
  /**
   * The condition on rows that belong to none of these owners, for tables in which an owner has few due rows, because it
   * is compared with each; absent: rows are claimed owner by owner, by `organizationId` and its index (`FairClaim`).
   */
  readonly notOwnedBy?: (owners: readonly string[]) => Prisma.Sql
  /** Reads rows by their ids, in any order. */
  readonly read: (ids: readonly string[]) => Promise<readonly Row[]>
}

/** Claims and reads rows with one statement. */
interface ClaimRows<Row> {
  readonly claimRows: (request: ClaimRequest) => Promise<readonly Claim<Row>[]>
}

/** What to claim. */
interface ClaimRequest {
  /** The owners whose rows to leave to others. */
  readonly full: readonly string[]
  readonly limit: number
  readonly now: Date
  /** The end of the lease, which becomes the due time. */
  readonly until: Date
}

export type LeasedWorkerOptions<Row> = CommonOptions<Row> & (ClaimThenRead<Row> | ClaimRows<Row>)

/** What all workers need. */
interface CommonOptions<Row> extends Pick<LeaseOptions, 'table' | 'dueColumn' | 'leaseMs'> {
  readonly ctx: Pick<Context, 'db' | 'now' | 'log'>
  /** The owner of a row, such as its organization, who gets at most half of the claims (`fairShare`). */
  readonly ownerOf: (row: Row) => string
  /** The maximum number of claimed rows, and of rows per statement. */
  readonly maxClaimed: number
  readonly batch: number
  /** Called before each claim. */
  readonly prepare?: () => Promise<void>
  /** Receives claimed rows, earliest due first, and starts each with `run`, now or later. */
  readonly accept: (claims: readonly Claim<Row>[]) => void
  /** Selects the due time of the next row, or null, as one value (`earliestOf`). */
  readonly earliest: Prisma.Sql
  /** Wakes the worker when a row is due, so that it can sleep until then; absent: it polls every second. */
  readonly agenda?: Agenda | undefined
  /** Called when work on a row has ended. */
  readonly onEnd?: () => void
  /** Pauses in milliseconds. */
  readonly pauses: {
    /** The pause after a poll without room for more rows, after one that filled its batch, and after any other. */
    readonly noRoom: number
    readonly full: number
    readonly partial: number
    /** The minimum pause until the next row is due. */
    readonly soonest: number
    /** The minimum pause after a wake-up. Merges further wake-ups. */
    readonly wake: number
  }
  /** The names of the room and of its rows for the log, such as `monitoring` and `watches`. */
  readonly name: { readonly room: string; readonly rows: string }
}

/** The maximum pause between polls while the worker has rows, and the timeout of a poll, in milliseconds. */
const MAX_PAUSE_MS = SECOND
const MAX_POLL_MS = 30 * SECOND

/** Creates a worker. It starts polling when `start` is called. */
export function createLeasedWorker<Row extends LeasedRow>(options: LeasedWorkerOptions<Row>): LeasedWork<Row> {
  const { ctx, table, dueColumn, leaseMs, maxClaimed, batch, earliest, agenda, pauses, ownerOf } = options
  const { room, rows } = options.name
  const { db, log, now } = ctx
  /** The claimed rows, started or not. */
  const claimed = new Map<string, Row>()
  const running = new Map<string, Promise<void>>()
  /** The releases of rows that were claimed while they were running. */
  const overtaken = new Set<Promise<void>>()
  let loop: PollLoop | null = null
  let leaveAgenda = () => {}
  let isClosing = false
  const fair = createFairClaim(ctx, { table, dueColumn })
  /** The owners whose rows the last poll left to others. */
  let passedOver: readonly string[] = []

  function shareNow() {
    const held = new Map<string, number>()
    for (const row of claimed.values()) held.set(ownerOf(row), (held.get(ownerOf(row)) ?? 0) + 1)
    return fairShare(maxClaimed, held)
  }

  async function poll(): Promise<number> {
    await options.prepare?.()
    const { limit: share, full } = shareNow()
    const limit = Math.min(share, batch)
    passedOver = full
    if (limit === 0) return pauses.noRoom
    const { claims: taken, isMore } = await claim(full, limit)
    if (taken.length === 0) {
      if (isMore) return pauses.partial
      return full.length === 0 ? msUntilNext() : Math.max(await msUntilNext(), pauses.partial)
    }
    accept(taken)
    return isMore ? pauses.full : pauses.partial
  }

  function accept(taken: readonly Claim<Row>[]): void {
    for (const { row } of taken) {
      if (running.has(row.id)) releaseAtEnd(row)
      else claimed.set(row.id, row)
    }
    options.accept(taken.filter(({ row }) => !running.has(row.id)))
  }

  /**
   * Makes a row that was claimed while it is still running here due again once it has ended: its lease has expired, or it
   * was due again when it had almost ended. Nobody else would work on it until the new lease expires.
   */
  function releaseAtEnd(row: Row): void {
    const releasing = (running.get(row.id) ?? Promise.resolve())
      .then(() => release([row]))
      .then(() => {
        overtaken.delete(releasing)
        wake()
      })
    overtaken.add(releasing)
  }

  /** Claims rows, but none of the owners that are full, and reads them. */
  async function claim(
    full: readonly string[],
    limit: number,
  ): Promise<{ claims: readonly Claim<Row>[]; isMore: boolean }> {
    if ('claimRows' in options) {
      const at = now()
      const claims = await options.claimRows({ full, limit, now: at, until: new Date(at.getTime() + leaseMs) })
      return { claims: earliestFirst(claims), isMore: claims.length === limit }
    }
    const { taken, until, isMore } = await claimIds(options, full, limit)
    if (taken.length === 0) return { claims: [], isMore }
    const read = new Map((await options.read(taken.map(({ id }) => id))).map((row) => [row.id, row]))
    const claims = taken.flatMap(({ id, dueAt }) => {
      const row = read.get(id)
      // A different due time means that the row has changed.
      return row?.dueAt.getTime() === until.getTime() ? [{ row, dueAt }] : []
    })
    return { claims, isMore }
  }

  async function claimIds(
    { where, notOwnedBy }: ClaimThenRead<Row>,
    full: readonly string[],
    limit: number,
  ): Promise<FairLease> {
    if (!notOwnedBy) return fair.claim({ where: where(), limit, leaseMs, full })
    const allowed = full.length === 0 ? where() : Prisma.sql`${notOwnedBy(full)} AND ${where()}`
    const lease = await claimDue(ctx, { table, dueColumn, where: allowed, limit, leaseMs })
    return { ...lease, isMore: lease.taken.length === limit }
  }

  async function msUntilNext(): Promise<number> {
    const [next] = await db.$queryRaw<{ at: Date | null }[]>`SELECT (${earliest}) AS at`
    // When the worker finishes its rows, some may be due again sooner.
    const longest = agenda && claimed.size === 0 ? IDLE_MS : MAX_PAUSE_MS
    if (!next?.at) return longest
    return Math.min(Math.max(next.at.getTime() - now().getTime(), pauses.soonest), longest)
  }

  async function work(row: Row, run: () => Promise<boolean>): Promise<void> {
    let isFinished = true
    try {
      isFinished = await run()
    } catch (error) {
      log.error({ err: error, id: row.id }, `${room}: could not finish work on one of the ${rows}`)
    } finally {
      running.delete(row.id)
      if (isFinished) forget(row)
      options.onEnd?.()
      // Nothing else tells the poll that the owner's other rows may be claimed again.
      if (passedOver.includes(ownerOf(row)) && !shareNow().full.includes(ownerOf(row))) wake()
    }
  }

  /** Forgets a claim, but not a later claim of the same row. */
  function forget(row: Row): void {
    if (claimed.get(row.id) === row) claimed.delete(row.id)
  }

  async function release(left: readonly Row[]): Promise<void> {
    for (const row of left) forget(row)
    const leases = left.map(({ id, dueAt }) => ({ id, until: dueAt }))
    await releaseClaims(ctx, { table, dueColumn }, leases).catch((error: unknown) =>
      log.warn({ err: error }, `${room}: could not release ${rows}; they become due again when their leases expire`),
    )
  }

  const wake = () => loop?.wake()

  return {
    poll,
    start() {
      loop = startPollLoop(poll, {
        retryMs: MAX_PAUSE_MS,
        timeoutMs: MAX_POLL_MS,
        minPauseMs: pauses.wake,
        log,
        failureMessage: `${room}: could not claim due ${rows}; retrying`,
      })
      if (agenda) leaveAgenda = agenda.add(earliest, wake)
    },
    wake,
    state: () => loop?.state() ?? 'ok',
    check: async () => loop?.check(),
    get running() {
      return running.size
    },
    get isClosing() {
      return isClosing
    },
    run(row, run) {
      running.set(row.id, work(row, run))
    },
    release,
    async idle() {
      while (running.size + overtaken.size > 0) await Promise.all([...running.values(), ...overtaken])
    },
    async close() {
      isClosing = true
      leaveAgenda()
      await loop?.stop()
      await release([...claimed.values()].filter(({ id }) => !running.has(id)))
      await Promise.all([...running.values(), ...overtaken])
      await release([...claimed.values()])
    },
  }
}

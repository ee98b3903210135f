import type pg from 'pg'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import type { Agenda } from '../../database/agenda.ts'
import { dueIfAny, earliestOf } from '../../database/agenda.ts'
import type { LeasedWorker } from '../../database/leased-worker.ts'
import { createLeasedWorker } from '../../database/leased-worker.ts'
import type { Prisma, PrismaClient, PushDelivery } from '../../generated/prisma/client.ts'
import { Prisma as sql } from '../../generated/prisma/client.ts'
import { createDestinationLimiter } from '../../network/destination-limiter.ts'
import { nextAttempt } from '../backoff.ts'
import type { SendResult } from '../channel/channel.ts'
import { parseContent } from './content.ts'
import { followOrganizations, UNFOLLOWED } from './follow.ts'
import type { PushTools } from './send.ts'
import { sendPush } from './send.ts'
import type { VapidKeys } from './vapid.ts'
import { vapidKeys } from './vapid.ts'

/** Longer than the slowest send. What a crashed worker had claimed waits this long, and is sent again. */
const LEASE = 60 * SECOND
/** Notifications claimed at once, and of these to one push service: the largest serve most browsers. */
const CONCURRENCY = 64
const PER_HOST = { atOnce: 16, perMinute: 3000 } as const
/** The pause of a notification whose push service has enough, in milliseconds. */
const POSTPONE_MS = 2 * SECOND
const pauses = { noRoom: SECOND, full: 5, partial: 0.25 * SECOND, soonest: 0.25 * SECOND, wake: 20 } as const

/** A notification that a worker has claimed. */
interface DuePush extends Pick<PushDelivery, 'id' | 'browserId' | 'failed' | 'dueAt' | 'createdAt'> {
  readonly content: Prisma.JsonValue
  readonly host: string
  readonly subscription: string
  /** Whether its person is still a member and signed in. */
  readonly isWanted: boolean
}

/** The person may have left the organization, or the session may have ended, since it was created. */
const READ = `
  SELECT push.id, push."browserId", push.failed, push."dueAt", push."createdAt", push.content, browser.host,
    browser.subscription, session."expiresAt" > $2 AND organization."deletedAt" IS NULL AND EXISTS (
      SELECT 1 FROM "Membership" AS member
      WHERE member."userId" = browser."userId" AND member."organizationId" = push."organizationId") AS "isWanted"
  FROM "PushDelivery" AS push
  JOIN "PushBrowser" AS browser ON browser.id = push."browserId"
  JOIN "Session" AS session ON session.id = browser."sessionId"
  JOIN "Organization" AS organization ON organization.id = push."organizationId"
  WHERE push.id = ANY($1)`

/** Creates a worker that sends notifications to browsers. */
export function createPushWorker(parts: {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly pool: Pick<pg.Pool, 'query'>
  readonly tools: PushTools
  /** Wakes the worker when something is due; absent: it looks every second. */
  readonly agenda?: Agenda
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}): LeasedWorker {
  const { ctx, pool, tools, agenda, random = Math.random } = parts
  const { db, now } = ctx
  const hosts = createDestinationLimiter(PER_HOST)
  let stopFollowing: (() => void) | undefined
  let keys: VapidKeys | undefined

  const worker = createLeasedWorker<DuePush>({
    ctx,
    table: 'PushDelivery',
    dueColumn: 'dueAt',
    where: () => sql.sql`TRUE`,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY,
    batch: CONCURRENCY,
    read: async (ids) => (await pool.query<DuePush>({ name: 'read pushes', text: READ, values: [ids, now()] })).rows,
    accept(claims) {
      for (const { row } of claims) worker.run(row, () => deliver(row))
    },
    earliest: earliestOf('PushDelivery'),
    agenda,
    pauses,
    name: { room: 'notification', rows: 'push notifications' },
  })

  async function deliver(row: DuePush): Promise<boolean> {
    if (!row.isWanted) return end(row)
    const release = hosts.tryAcquire(row.host)
    if (release === null) return repeat(row, row.failed, new Date(now().getTime() + POSTPONE_MS * (1 + random())))
    try {
      keys ??= await vapidKeys({ db, seal: tools.seal })
      const browser = { id: row.browserId, subscription: row.subscription }
      return await store(row, await sendPush(tools, keys, browser, parseContent(row.content)))
    } finally {
      release()
    }
  }

  async function store(row: DuePush, result: SendResult): Promise<boolean> {
    if (result.kind === 'postponed')
      return repeat(row, row.failed, new Date(now().getTime() + POSTPONE_MS * (1 + random())))
    if (result.kind === 'delivered') return end(row)
    if (result.permanence === 'GONE') {
      await db.pushBrowser.deleteMany({ where: { id: row.browserId } })
      return true
    }
    const { createdAt, failed } = row
    const { retryAfterMs } = result
    const again =
      result.permanence === 'TEMPORARY'
        ? nextAttempt({ createdAt, failed: failed + 1, retryAfterMs }, now(), random())
        : null
    if (again !== null) return repeat(row, failed + 1, again)
    ctx.log.warn({ host: row.host, status: result.status }, 'notification: gave up a push notification')
    return end(row)
  }

  /** Only the holder of the lease records a failure. */
  async function repeat({ id, dueAt }: DuePush, failed: number, at: Date): Promise<boolean> {
    await db.pushDelivery.updateMany({ where: { id, dueAt }, data: { failed, dueAt: at } })
    return true
  }

  async function end({ id }: DuePush): Promise<boolean> {
    await db.pushDelivery.deleteMany({ where: { id } })
    return true
  }

  return {
    ...worker,
    start() {
      worker.start()
      // Somebody with a browser has joined an organization.
      stopFollowing = agenda?.add(dueIfAny(UNFOLLOWED), follow)
    },
    close() {
      stopFollowing?.()
      return worker.close()
    },
  }

  function follow(): void {
    followOrganizations(db).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'notification: could not follow an organization; trying again'),
    )
  }
}

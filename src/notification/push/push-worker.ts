import type pg from 'pg'
import { organizations } from '../../account/views.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { dueIfAny, earliestOf } from '../../database/lease/agenda.ts'
import type { LeasedWorker } from '../../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../../database/lease/leased-worker.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { members, sessions } from '../../people/views.ts'
import { LEASE, pauses } from '../queue/lease.ts'
import { followOrganizations, UNFOLLOWED } from './follow.ts'
import type { DuePush, PushParts } from './push-sender.ts'
import { createPushSender } from './push-sender.ts'

/** How many notifications are claimed and sent at once. */
const CONCURRENCY = 128

/** `isWanted` is false if the person has left the organization, or the session has ended. */
const READ = `
  SELECT push.id, push."browserId", push."organizationId", push.failed, push."dueAt", push."createdAt", push.content, push."alertDeliveryId", browser.host,
    browser.subscription, session."expiresAt" > $2 AND organization."deletedAt" IS NULL AND EXISTS (
      SELECT 1 FROM ${members.sql} AS member
      WHERE member."userId" = browser."userId" AND member."organizationId" = push."organizationId") AS "isWanted"
  FROM "PushDelivery" AS push
  JOIN "PushBrowser" AS browser ON browser.id = push."browserId"
  JOIN ${sessions.sql} AS session ON session.id = browser."sessionId"
  JOIN ${organizations.sql} AS organization ON organization.id = push."organizationId"
  WHERE push.id = ANY($1)`

/** Creates a worker that sends due notifications to browsers. */
export function createPushWorker(
  parts: PushParts & {
    readonly pool: Pick<pg.Pool, 'query'>
    /** Wakes the worker when a notification is due; without it, the worker polls every second. */
    readonly agenda?: Agenda
  },
): LeasedWorker {
  const { ctx, pool, agenda } = parts
  const { db, now } = ctx
  const send = createPushSender(parts)
  let stopFollowing: (() => void) | undefined

  const worker = createLeasedWorker<DuePush>({
    ctx,
    table: 'PushDelivery',
    dueColumn: 'dueAt',
    where: () => Prisma.sql`TRUE`,
    ownerOf: ({ organizationId }) => organizationId,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY,
    batch: CONCURRENCY,
    read: async (ids) => (await pool.query<DuePush>({ name: 'read pushes', text: READ, values: [ids, now()] })).rows,
    accept(claims) {
      for (const { row } of claims) worker.run(row, () => send(row).then(() => true))
    },
    earliest: earliestOf('PushDelivery'),
    agenda,
    pauses,
    name: { room: 'notification', rows: 'push notifications' },
  })

  return {
    ...worker,
    start() {
      worker.start()
      // Finds organizations that a person with a browser has joined.
      stopFollowing = agenda?.add(dueIfAny(UNFOLLOWED), follow)
    },
    close() {
      stopFollowing?.()
      return worker.close()
    },
  }

  function follow(): void {
    followOrganizations(db).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'notification: could not follow an organization; retrying'),
    )
  }
}

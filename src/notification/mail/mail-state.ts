import { organizations } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import { DAY } from '../../core/time.ts'

/** The outcome of the emails to subscribers of all organizations that were created within a day. */
export interface MailState {
  readonly delivered: number
  /** When the last email was delivered; null if none was. */
  readonly deliveredAt: Date | null
  readonly failed: number
  /** The newest failed attempt, or null. */
  readonly failure: { readonly at: Date; readonly message: string } | null
  /** What the mail server said when it last refused an email because of us, and has delivered none since; null: nothing. */
  readonly refusal: string | null
  /** The number of emails whose attempt is due, whenever they were created, and since when they are due. */
  readonly due: number
  readonly dueSince: Date | null
}

/** How many of the newest deliveries of an organization are read. */
const MAX_READ = 1000

/** Reads the state of emails to subscribers, with two statements. The caller checks permissions. */
export async function readMailState({ db, now }: Pick<Context, 'db' | 'now'>): Promise<MailState> {
  const at = now()
  const since = new Date(at.getTime() - DAY)
  // By organization, because the index orders deliveries by organization and time.
  const [recent] = await db.$queryRaw<
    {
      delivered: number
      deliveredAt: Date | null
      failed: number
      failedAt: Date | null
      message: string | null
      refusedAt: Date | null
      refusal: string | null
    }[]
  >`
    WITH recent AS MATERIALIZED (
      SELECT mail.status, mail."endedAt", mail.attempts -> -1 AS last
      FROM ${organizations} AS organization CROSS JOIN LATERAL (
        SELECT * FROM "Delivery" delivery
        WHERE delivery."organizationId" = organization.id AND delivery."createdAt" >= ${since}::timestamptz
        ORDER BY delivery."createdAt" DESC, delivery.id DESC LIMIT ${MAX_READ}::int
      ) mail
      WHERE mail.channel = 'EMAIL'
    ), failure AS (
      SELECT (last ->> 'at')::timestamptz AS at, last ->> 'message' AS message FROM recent
      WHERE last ->> 'delivered' = 'false' ORDER BY last ->> 'at' DESC LIMIT 1
    ), refusal AS (
      SELECT (last ->> 'at')::timestamptz AS at, last ->> 'message' AS message FROM recent
      WHERE last ->> 'isOurs' = 'true' ORDER BY last ->> 'at' DESC LIMIT 1
    )
    SELECT count(*) FILTER (WHERE status = 'DELIVERED')::int AS delivered,
      max("endedAt") FILTER (WHERE status = 'DELIVERED') AS "deliveredAt",
      count(*) FILTER (WHERE status = 'FAILED')::int AS failed,
      (SELECT at FROM failure) AS "failedAt", (SELECT message FROM failure) AS message,
      (SELECT at FROM refusal) AS "refusedAt", (SELECT message FROM refusal) AS refusal
    FROM recent`
  const [waiting] = await db.$queryRaw<{ due: number; since: Date | null }[]>`
    SELECT count(*)::int AS due, min("dueAt") AS since
    FROM "Delivery" WHERE "dueAt" < ${at}::timestamptz AND channel = 'EMAIL'`
  const { delivered = 0, deliveredAt = null, failed = 0, failedAt = null, message = null } = recent ?? {}
  const { refusedAt = null, refusal = null } = recent ?? {}
  const isRefused = refusedAt !== null && (deliveredAt === null || refusedAt > deliveredAt)
  return {
    ...{ delivered, deliveredAt, failed },
    failure: failedAt === null || message === null ? null : { at: failedAt, message },
    refusal: isRefused ? refusal : null,
    due: waiting?.due ?? 0,
    dueSince: waiting?.since ?? null,
  }
}

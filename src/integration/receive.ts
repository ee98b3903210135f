import type { AttemptWindow } from '../core/concurrency/attempt-window.ts'
import { createAttemptWindow } from '../core/concurrency/attempt-window.ts'
import { Invalid, NotFound, RateLimited } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { bodyLimits } from '../core/input-limits.ts'
import type { LruMap } from '../core/lru-map.ts'
import { createLruMap } from '../core/lru-map.ts'
import { MINUTE } from '../core/time.ts'
import { change } from '../event-log/change.ts'
import type { Integration } from '../generated/prisma/client.ts'
import type { TakenBytes } from './byte-quota.ts'
import { countBytes, createTakenBytes } from './byte-quota.ts'
import type { IntegrationContext } from './integration.ts'
import { integrationEvent, integrationWithSecret, signingSecretOf } from './integration.ts'
import { deleteSurplusBodies } from './retention.ts'
import type { SignedRequest } from './signature.ts'
import { isSigned } from './signature.ts'

/** The database notification that announces received bodies. */
export const INCOMING_NOTIFICATION = 'incoming_body'

/** The largest accepted body, in bytes, which leaves room for a group of many alerts. */
export const MAX_INCOMING_BYTES = bodyLimits.incomingAlert.most

/** How many bodies each process accepts for an integration in a minute: enough for 1,000 alerts within ten seconds. */
const PER_MINUTE = 3000
/** How many bodies of an integration may be pending, and how many bytes they may have as stored. */
const MAX_WAITING = 20_000
const MAX_WAITING_BYTES = 32 * 2 ** 20
/** After how many bytes a process deletes the oldest bodies of an integration. */
const BYTES_BETWEEN_DELETIONS = 2 ** 20

/** How many requests with a wrong signature are kept for an integration: per minute and process, and in total. */
const REFUSED_PER_MINUTE = 20
const MAX_REFUSED = 100
/** How many bytes of a body with a wrong signature are kept. */
const MAX_REFUSED_BYTES = 16 * 1024

/**
 * Counts the bodies of each integration that this process has accepted, and kept as refused, within a minute, and their
 * bytes.
 */
interface ReceiveLimits {
  readonly received: AttemptWindow
  readonly refusals: AttemptWindow
  readonly taken: TakenBytes
  /** The bytes stored since the oldest bodies were deleted, by integration. */
  readonly stored: LruMap<number>
}

/** The maximum number of integrations whose stored bytes are remembered. */
const MAX_REMEMBERED = 10_000

/** Creates the counters of this process. */
export function createReceiveLimits(): ReceiveLimits {
  return {
    received: createAttemptWindow({ max: PER_MINUTE, windowMs: MINUTE }),
    refusals: createAttemptWindow({ max: REFUSED_PER_MINUTE, windowMs: MINUTE }),
    taken: createTakenBytes(),
    stored: createLruMap(MAX_REMEMBERED),
  }
}

/** The context in which bodies are received. */
export interface ReceiveContext extends IntegrationContext {
  readonly receiveLimits: ReceiveLimits
}

/** The note of a body with a wrong signature. */
const WRONG_SIGNATURE = 'Its signature is missing or invalid.'

/**
 * Stores a body that arrived at the URL with this secret, for a worker to read. A body with a wrong signature is kept as refused,
 * so that the organization can see it.
 * @throws NotFound for an unknown secret, Invalid for a wrong signature, and RateLimited.
 */
export async function receive(ctx: ReceiveContext, secret: string, request: SignedRequest): Promise<void> {
  const integration = await integrationWithSecret(ctx, secret)
  if (integration === null) throw new NotFound('No integration has this URL.')
  const signingSecret = signingSecretOf(ctx.seal, integration)
  const isTrusted = signingSecret === null || isSigned(integration.kind, signingSecret, request, ctx.now())
  if (!isTrusted) {
    await storeRefused(
      ctx,
      integration,
      request.body.subarray(0, MAX_REFUSED_BYTES).toString('utf8').replaceAll(secret, '•••'),
    )
    throw new Invalid('INVALID_SIGNATURE', 'The signature is missing or invalid.')
  }
  await store(ctx, integration, request.body.toString('utf8').replaceAll(secret, '•••'))
}

/** Keeps the newest bodies with a wrong signature, unless too many arrive. */
async function storeRefused(ctx: ReceiveContext, integration: Integration, body: string): Promise<void> {
  const { db, seal, now } = ctx
  const { refusals } = ctx.receiveLimits
  const { id: integrationId, organizationId } = integration
  const left = refusals.left(integrationId, now())
  if (left === 0) return
  refusals.count(integrationId, now())
  const id = newId('IncomingBody')
  const about = { id, integrationId, receivedAt: now(), status: 'REFUSED', note: WRONG_SIGNATURE } as const
  await db.incomingBody.create({ data: { ...about, body: seal.seal(body, bodyPurpose(id)) } })
  const refused = { integrationId, status: 'REFUSED', note: WRONG_SIGNATURE } as const
  const [oldest] = await db.incomingBody.findMany({
    where: refused,
    orderBy: { position: 'desc' },
    skip: MAX_REFUSED,
    take: 1,
    select: { position: true },
  })
  if (oldest) await db.incomingBody.deleteMany({ where: { ...refused, position: { lte: oldest.position } } })
  // At most one event per minute.
  if (left === REFUSED_PER_MINUTE)
    await change(ctx, organizationId, async () => [undefined, integrationEvent('INCOMING_ALERT_REFUSED', integration)])
}

/**
 * Stores an event of PagerDuty's Events API whose routing key is the secret of an integration.
 * @throws NotFound for an unknown key, Invalid for an event that nests too deeply, and RateLimited.
 */
export async function receiveEvent(ctx: ReceiveContext, routingKey: string, event: object): Promise<void> {
  const integration = await integrationWithSecret(ctx, routingKey)
  if (integration?.kind !== 'PAGERDUTY_EVENTS') throw new NotFound('No integration has this routing key.')
  await store(ctx, integration, textOf(event).replaceAll(routingKey, '•••'))
}

/** @throws Invalid for an event that nests too deeply to serialize. */
function textOf(event: object): string {
  try {
    return JSON.stringify(event)
  } catch {
    throw new Invalid('INVALID_INPUT', 'The event nests too deeply.')
  }
}

async function store(ctx: ReceiveContext, integration: Integration, body: string): Promise<void> {
  const { id: integrationId } = integration
  const now = ctx.now()
  const { received } = ctx.receiveLimits
  if (received.left(integrationId, now) === 0)
    throw new RateLimited(
      'This integration accepts at most 3,000 requests a minute.',
      received.endsAt(integrationId, now),
    )
  received.count(integrationId, now)
  await countBytes(ctx, ctx.receiveLimits.taken, integration, Buffer.byteLength(body))
  const id = newId('IncomingBody')
  const sealed = ctx.seal.seal(body, bodyPurpose(id))
  // The due time always changes, so that a worker that is about to finish checks again.
  const stored = await ctx.db.$queryRaw<unknown[]>`
    WITH waiting AS (
      SELECT count(*) AS bodies, coalesce(sum(bytes), 0) AS bytes FROM (
        SELECT octet_length(body) AS bytes FROM "IncomingBody" WHERE "integrationId" = ${integrationId} AND status = 'PENDING' LIMIT ${MAX_WAITING}) AS pending
    ), stored AS (
      INSERT INTO "IncomingBody" (id, "integrationId", "receivedAt", body)
      SELECT ${id}, ${integrationId}, ${now}::timestamptz, ${sealed} FROM waiting
      WHERE bodies < ${MAX_WAITING} AND bytes < ${MAX_WAITING_BYTES}
      RETURNING "integrationId"
    ), due AS (
      UPDATE "Integration" SET "dueAt" = ${now}::timestamptz, "lastReceivedAt" = ${now}::timestamptz FROM stored
      WHERE id = stored."integrationId"
      RETURNING id
    )
    SELECT pg_notify(${INCOMING_NOTIFICATION}, '')::text FROM due`
  if (stored.length === 0)
    throw new RateLimited('Too many requests of this integration are waiting.', new Date(now.getTime() + MINUTE))
  await deleteSurplus(ctx, integrationId, sealed.length)
}

/** Deletes the oldest bodies of an integration after each mebibyte that is stored, so that a flood fills no disk. */
async function deleteSurplus(
  { db, receiveLimits }: ReceiveContext,
  integrationId: string,
  added: number,
): Promise<void> {
  const { stored } = receiveLimits
  const bytes = (stored.get(integrationId) ?? 0) + added
  stored.set(integrationId, bytes < BYTES_BETWEEN_DELETIONS ? bytes : 0)
  if (bytes >= BYTES_BETWEEN_DELETIONS) await deleteSurplusBodies({ db }, integrationId)
}

/** Returns the purpose for which a body is sealed. */
export const bodyPurpose = (id: string): string => `${id} incoming body`

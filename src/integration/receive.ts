import { createAttemptWindow } from '../core/attempt-window.ts'
import { Invalid, NotFound, RateLimited } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { MINUTE } from '../core/time.ts'
import type { Integration } from '../generated/prisma/client.ts'
import type { IntegrationContext } from './integration.ts'
import { integrationWithSecret, signingSecretOf } from './integration.ts'
import type { SignedRequest } from './signature.ts'
import { isSigned } from './signature.ts'

/** The database channel that announces bodies that came in. */
export const INCOMING_CHANNEL = 'incoming_body'

/** How large a body may be, in bytes: a group of many alerts is large. */
export const MAX_INCOMING_BYTES = 256 * 1024

/** How many bodies an integration takes a minute, in each process: 1,000 alerts in ten seconds are fine. */
const PER_MINUTE = 3000
/** How many may wait to be read. */
const MAX_WAITING = 20_000

const received = createAttemptWindow({ max: PER_MINUTE, windowMs: MINUTE })

/**
 * Stores what came in at the address with a secret; a worker reads it.
 * @throws NotFound for an unknown secret, Invalid for a wrong signature, and RateLimited.
 */
export async function receive(ctx: IntegrationContext, secret: string, request: SignedRequest): Promise<void> {
  const integration = await integrationWithSecret(ctx, secret)
  if (integration === null) throw new NotFound('No integration has this address.')
  const signingSecret = signingSecretOf(ctx.seal, integration)
  if (signingSecret !== null && !isSigned(integration.kind, signingSecret, request))
    throw new Invalid('INVALID_SIGNATURE', 'The signature is missing or invalid.')
  await store(ctx, integration, request.body.toString('utf8').replaceAll(secret, '•••'))
}

/**
 * Stores an event of PagerDuty's Events API whose routing key is the secret of an integration.
 * @throws NotFound for an unknown key, Invalid for what nests too deeply, and RateLimited.
 */
export async function receiveEvent(ctx: IntegrationContext, routingKey: string, event: object): Promise<void> {
  const integration = await integrationWithSecret(ctx, routingKey)
  if (integration?.kind !== 'PAGERDUTY_EVENTS') throw new NotFound('No integration has this routing key.')
  await store(ctx, integration, textOf(event).replaceAll(routingKey, '•••'))
}

/** @throws Invalid for what nests deeper than it can be written. */
function textOf(event: object): string {
  try {
    return JSON.stringify(event)
  } catch {
    throw new Invalid('INVALID_INPUT', 'The event nests too deeply.')
  }
}

async function store(ctx: IntegrationContext, { id: integrationId }: Integration, body: string): Promise<void> {
  const now = ctx.now()
  if (received.left(integrationId, now) === 0)
    throw new RateLimited('This integration takes 3,000 requests a minute.', received.endsAt(integrationId, now))
  received.count(integrationId, now)
  const id = newId('IncomingBody')
  const sealed = ctx.seal.seal(body, bodyPurpose(id))
  // The due time is always a new one, so that a worker that is about to finish looks again.
  const stored = await ctx.db.$queryRaw<unknown[]>`
    WITH waiting AS (
      SELECT count(*) AS bodies FROM (
        SELECT 1 FROM "IncomingBody" WHERE "integrationId" = ${integrationId} AND status = 'PENDING' LIMIT ${MAX_WAITING}) AS pending
    ), stored AS (
      INSERT INTO "IncomingBody" (id, "integrationId", "receivedAt", body)
      SELECT ${id}, ${integrationId}, ${now}::timestamptz, ${sealed} FROM waiting WHERE bodies < ${MAX_WAITING}
      RETURNING "integrationId"
    ), due AS (
      UPDATE "Integration" SET "dueAt" = ${now}::timestamptz, "lastReceivedAt" = ${now}::timestamptz FROM stored
      WHERE id = stored."integrationId"
      RETURNING id
    )
    SELECT pg_notify(${INCOMING_CHANNEL}, '')::text FROM due`
  if (stored.length === 0)
    throw new RateLimited('Too many requests of this integration wait.', new Date(now.getTime() + MINUTE))
}

/** Names the owner of a sealed body. */
export const bodyPurpose = (id: string): string => `${id} incoming body`
